package io.seckill.consumer.intake;

import com.rabbitmq.client.AMQP.BasicProperties;

/**
 * A message of the broker with one order or several. Its tag is valid only in the session that has
 * received it, which acks it when all of them are settled.
 */
final class ReceivedMessage {

  private final long tag;
  private final String routingKey;
  private final BasicProperties properties;
  private int unsettled;

  /**
   * @param routingKey with which it was published
   * @param orders in it, from 1
   */
  ReceivedMessage(long tag, String routingKey, BasicProperties properties, int orders) {
    this.tag = tag;
    this.routingKey = routingKey;
    this.properties = properties;
    this.unsettled = orders;
  }

  long tag() {
    return tag;
  }

  String routingKey() {
    return routingKey;
  }

  BasicProperties properties() {
    return properties;
  }

  /** Settles one of its orders; only one thread does. Returns whether it was the last one. */
  boolean settleOne() {
    unsettled--;
    return unsettled == 0;
  }
}
