package io.seckill.consumer.intake;

import java.util.Map;

/** The orders from the broker's order queues that this process has not settled. */
public interface DeliveriesInHand {

  /**
   * Number of unsettled orders by queue, at this moment. Contains only queues whose active consumer
   * is this process, which is certain once it has received a delivery. Thread-safe.
   */
  Map<String, Long> unacked();
}
