package io.seckill.consumer.deadletter;

/** Headers of messages in the dead queue, and of a replayed order. */
public final class DeadLetterHeaders {

  /** Text: a {@link DeadLetterReason}. */
  public static final String REASON = "x-seckill-reason";

  /** Text, one line. */
  public static final String DETAIL = "x-seckill-detail";

  /**
   * Integer: deliveries that failed so far. A replay copies it to {@code seckill.orders}, so that
   * the count continues.
   */
  public static final String ATTEMPTS = "x-seckill-attempts";

  /** Long, Unix ms. A replay copies it as well. */
  public static final String FIRST_FAILED_AT = "x-seckill-first-failed-at";

  /** Long, Unix ms. */
  public static final String LAST_FAILED_AT = "x-seckill-last-failed-at";

  /** Text: the routing key with which the message was published to {@code seckill.orders}. */
  public static final String ROUTING_KEY = "x-seckill-routing-key";

  private DeadLetterHeaders() {}
}
