package io.seckill.consumer.deadletter;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.UnreadableMessageException;
import org.jspecify.annotations.Nullable;

/**
 * A message that this service or the broker gave up on.
 *
 * @param order the decoded payload; null when it cannot be read
 * @param routingKey with which it was published to the orders exchange; null when unknown
 * @param detail one line for operators; cut to {@value #MAX_DETAIL} characters
 * @param attempts failed deliveries, including those before a replay, at least 1
 * @param firstFailedAt Unix ms
 * @param lastFailedAt Unix ms
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, never compared
public record DeadLetter(
    byte[] payload,
    @Nullable OrderMessage order,
    @Nullable String routingKey,
    DeadLetterReason reason,
    String detail,
    int attempts,
    long firstFailedAt,
    long lastFailedAt) {

  static final int MAX_DETAIL = 500;

  public DeadLetter {
    String line = detail.replaceAll("\\p{Cntrl}+", " ");
    detail = line.length() <= MAX_DETAIL ? line : line.substring(0, MAX_DETAIL);
  }

  /** One order of the message. */
  DeadLetter of(byte[] part) {
    return new DeadLetter(
        part, orderIn(part), routingKey, reason, detail, attempts, firstFailedAt, lastFailedAt);
  }

  /** The order in a payload; null when it cannot be read. */
  static @Nullable OrderMessage orderIn(byte[] payload) {
    try {
      return OrderMessageCodec.decode(payload);
    } catch (UnreadableMessageException e) {
      return null;
    }
  }
}
