package io.seckill.gateway.ops;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What this gateway has counted since its start, and what waits in Redis now.
 *
 * @param purchases that were accepted for a decision: the sum of admitted, confirmed,
 *     idempotentHits, busy, refused and unknown, and those under way
 * @param admitted by Redis
 * @param confirmed purchases of strong sales
 * @param refused by reason
 * @param unknown purchases with an unknown outcome, by cause
 * @param refusedRequests requests of any kind refused for their token, rate or form, by code
 * @param breakers by name, as {@code seckill_breaker_state} has them
 * @param waiting purchases that wait in this gateway, by queue
 * @param outbox null while Redis is unavailable
 * @param lanes number by state; null while Redis is unavailable
 * @param consumer what the order-consumer that answered has counted since its start; null while
 *     none answers
 */
record MetricsSummary(
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant readAt,
    long uptimeSeconds,
    long purchases,
    long admitted,
    long confirmed,
    long idempotentHits,
    long busy,
    Map<String, Long> refused,
    Map<String, Long> unknown,
    Map<String, Long> refusedRequests,
    Latency latency,
    Latency strongLatency,
    Shield shield,
    Redis redis,
    Map<String, Breaker> breakers,
    Map<String, Long> waiting,
    @Nullable Outbox outbox,
    @Nullable Map<String, Long> lanes,
    @Nullable JsonNode consumer) {

  /**
   * Time from a validated purchase to its outcome.
   *
   * @param withinMs number of outcomes within each bound, by the bound in milliseconds
   */
  record Latency(long count, double meanMs, double maxMs, Map<String, Long> withinMs) {}

  record Shield(long hits, long misses) {}

  /**
   * @param errors failed calls by kind
   */
  record Redis(Map<String, Long> errors, boolean verified, long quarantinedSkus) {}

  /**
   * @param state closed, open or half_open
   * @param transitions by the new state
   */
  record Breaker(String state, Map<String, Long> transitions) {}

  /** Orders that no lane has taken, over all partitions. */
  record Outbox(long orders, long oldestMs) {}
}
