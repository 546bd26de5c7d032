package io.seckill.gateway.ops;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.time.Instant;
import java.util.Map;

/**
 * What this gateway has counted since its start, and what waits in Redis now.
 *
 * @param admitted by Redis
 * @param confirmed purchases of strong sales
 * @param refused by reason
 * @param unknown purchases with an unknown outcome, by cause
 * @param waiting purchases that wait in this gateway, by queue
 */
record MetricsSummary(
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant readAt,
    long purchases,
    long admitted,
    long confirmed,
    long idempotentHits,
    long busy,
    Map<String, Long> refused,
    Map<String, Long> unknown,
    Latency latency,
    Shield shield,
    Redis redis,
    Map<String, Long> waiting,
    Outbox outbox,
    Map<String, Long> lanes) {

  /**
   * Time from a validated purchase to its outcome.
   *
   * @param withinMs number of outcomes within each bound, by the bound in milliseconds
   */
  record Latency(long count, double meanMs, double maxMs, Map<String, Long> withinMs) {}

  record Shield(long hits, long misses) {}

  /**
   * @param errors failed calls by kind
   * @param transitions of the breaker, by the new state
   */
  record Redis(
      Map<String, Long> errors,
      String breaker,
      Map<String, Long> transitions,
      boolean verified,
      long quarantinedSkus) {}

  /** Orders that no lane has taken, over all partitions. */
  record Outbox(long orders, long oldestMs) {}
}
