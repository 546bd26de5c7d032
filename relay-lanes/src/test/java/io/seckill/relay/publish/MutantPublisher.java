package io.seckill.relay.publish;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/** Loses orders; a mutation redirects publishes to it. */
public final class MutantPublisher {

  private static final int EVERY = 50;
  private static final AtomicInteger PUBLISHED = new AtomicInteger();

  private MutantPublisher() {}

  /** Sends one message in 50 to a key without a queue, and not mandatory: the broker acks it. */
  static void basicPublish(
      Channel channel,
      String exchange,
      String routingKey,
      boolean mandatory,
      BasicProperties properties,
      byte[] body)
      throws IOException {
    boolean lost = PUBLISHED.incrementAndGet() % EVERY == 0;
    channel.basicPublish(
        exchange, lost ? "nowhere" : routingKey, mandatory && !lost, properties, body);
  }
}
