package io.seckill.consumer.intake;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Envelope;
import io.seckill.common.order.OrderLines;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.consumer.storage.Barriers;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One order received and not settled, or a barrier.
 *
 * @param number among the orders and barriers that the session has received, from 1
 * @param message that it came with
 * @param body its part of the message
 * @param order the decoded body; null of a barrier, and when it cannot be read
 * @param unreadable why it cannot be read; otherwise null
 * @param receivedNanos by System.nanoTime
 */
@SuppressWarnings("ArrayRecordComponent") // as the client hands it in, never compared
record Delivery(
    long number,
    ReceivedMessage message,
    byte[] body,
    @Nullable OrderMessage order,
    @Nullable UnreadableMessageException unreadable,
    long receivedNanos) {

  /**
   * Decodes a message on the connection's thread, in parallel to the writer thread.
   *
   * @param before orders and barriers that the session has received before
   * @return at least one
   */
  static List<Delivery> of(
      Envelope envelope, BasicProperties properties, byte[] body, long before) {
    boolean isBarrier = Barriers.isBarrier(properties);
    List<byte[]> parts = isBarrier ? List.of(body) : OrderLines.split(body);
    ReceivedMessage message =
        new ReceivedMessage(
            envelope.getDeliveryTag(), envelope.getRoutingKey(), properties, parts.size());
    long now = System.nanoTime();
    List<Delivery> deliveries = new ArrayList<>(parts.size());
    for (byte[] part : parts) {
      long number = before + deliveries.size() + 1;
      deliveries.add(
          isBarrier
              ? new Delivery(number, message, part, null, null, now)
              : of(number, message, part, now));
    }
    return deliveries;
  }

  private static Delivery of(long number, ReceivedMessage message, byte[] part, long now) {
    try {
      return new Delivery(number, message, part, OrderMessageCodec.decode(part), null, now);
    } catch (UnreadableMessageException e) {
      return new Delivery(number, message, part, null, e, now);
    }
  }

  boolean isBarrier() {
    return Barriers.isBarrier(message.properties());
  }
}
