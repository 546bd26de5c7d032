package io.seckill.consumer.intake;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Envelope;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.consumer.storage.Barriers;
import org.jspecify.annotations.Nullable;

/**
 * One message received and not settled. Its tag is valid only in the session that received it.
 *
 * @param routingKey with which it was published
 * @param order the decoded body; null of a barrier, and when it cannot be read
 * @param unreadable why it cannot be read; otherwise null
 * @param receivedNanos by System.nanoTime
 */
@SuppressWarnings("ArrayRecordComponent") // as the client hands it in, never compared
record Delivery(
    long tag,
    String routingKey,
    byte[] body,
    BasicProperties properties,
    @Nullable OrderMessage order,
    @Nullable UnreadableMessageException unreadable,
    long receivedNanos) {

  /** Decodes the message on the connection's thread, in parallel to the writer thread. */
  static Delivery of(Envelope envelope, BasicProperties properties, byte[] body) {
    long tag = envelope.getDeliveryTag();
    String key = envelope.getRoutingKey();
    long now = System.nanoTime();
    if (Barriers.isBarrier(properties)) {
      return new Delivery(tag, key, body, properties, null, null, now);
    }
    try {
      return new Delivery(tag, key, body, properties, OrderMessageCodec.decode(body), null, now);
    } catch (UnreadableMessageException e) {
      return new Delivery(tag, key, body, properties, null, e, now);
    }
  }
}
