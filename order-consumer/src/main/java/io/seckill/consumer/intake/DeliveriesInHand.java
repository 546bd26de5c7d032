package io.seckill.consumer.intake;

import java.util.Map;

/** What this process holds of the broker's order queues. */
public interface DeliveriesInHand {

  /**
   * Deliveries not acked, by queue, at this moment; only queues of which this process is the active
   * consumer, as far as it can tell by having been sent something. Thread-safe.
   */
  Map<String, Long> unacked();
}
