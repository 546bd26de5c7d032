package io.seckill.consumer.intake;

import java.util.Map;

/** The deliveries from the broker's order queues that this process has not acked. */
public interface DeliveriesInHand {

  /**
   * Number of unacked deliveries by queue, at this moment. Contains only queues whose active
   * consumer is this process, which is certain once it has received a delivery. Thread-safe.
   */
  Map<String, Long> unacked();
}
