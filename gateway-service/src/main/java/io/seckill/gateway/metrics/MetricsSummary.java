package io.seckill.gateway.metrics;

import com.fasterxml.jackson.annotation.JsonFormat;
import java.time.Instant;
import java.util.Map;

/**
 * What this gateway has counted since its start, and what waits in Redis now.
 *
 * @param refused by reason
 * @param unknown purchases of which nobody knows yet, by cause
 * @param waiting purchases that wait in this gateway, by queue
 */
record MetricsSummary(
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant readAt,
    long purchases,
    long admitted,
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
   * From a checked purchase to its outcome.
   *
   * @param withinMs outcomes within so many milliseconds, by the bound
   */
  record Latency(long count, double meanMs, double maxMs, Map<String, Long> withinMs) {}

  record Shield(long hits, long misses) {}

  /**
   * @param errors failed calls by kind
   * @param transitions of the breaker, by the state it went to
   */
  record Redis(
      Map<String, Long> errors,
      String breaker,
      Map<String, Long> transitions,
      boolean verified,
      long heldSkus) {}

  /** Orders that no lane has taken, over all partitions. */
  record Outbox(long orders, long oldestMs) {}
}
