package io.seckill.gateway.admission;

import java.time.Duration;

/**
 * The place that an order must have reached before "queued" is answered.
 *
 * @param replicas replicas of Redis that must confirm; 0 unless durable in {@link Store#REPLICAS}
 * @param within longest wait for replicas or for the broker
 */
public record Durability(Store in, int replicas, Duration within) {

  public enum Store {
    /** On the disk of Redis's primary. */
    REDIS,
    /** Also on replicas of Redis. */
    REPLICAS,
    /** Also in a queue of the broker, which has confirmed it to this gateway's own lanes. */
    BROKER
  }
}
