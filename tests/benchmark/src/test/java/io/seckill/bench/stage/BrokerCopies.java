package io.seckill.bench.stage;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import io.seckill.bench.lab.Lab;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.UnreadableMessageException;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;

/**
 * When the broker has routed each order: a queue of its own, without disk, gets a copy of each.
 * Thread-safe.
 */
final class BrokerCopies implements AutoCloseable {

  private final Connection connection;
  private final Map<Long, Long> micros = new ConcurrentHashMap<>();

  private BrokerCopies(Connection connection) {
    this.connection = connection;
  }

  static BrokerCopies watch(Lab lab, LongSupplier clock) throws IOException, TimeoutException {
    BrokerCopies published =
        new BrokerCopies(Lab.broker(lab.vhost()).newConnection("published orders"));
    published.consume(clock);
    return published;
  }

  private void consume(LongSupplier clock) throws IOException {
    Channel channel = connection.createChannel();
    String queue = channel.queueDeclare().getQueue();
    for (int p = 0; p < Partition.COUNT; p++) {
      channel.queueBind(queue, BrokerTopology.ORDERS_EXCHANGE, BrokerTopology.routingKey(p));
    }
    channel.basicConsume(
        queue,
        true,
        new DefaultConsumer(channel) {
          @Override
          public void handleDelivery(
              String tag, Envelope envelope, BasicProperties properties, byte[] body) {
            long now = clock.getAsLong();
            try {
              micros.putIfAbsent(OrderMessageCodec.decode(body).orderId().value(), now);
            } catch (UnreadableMessageException e) {
              throw new IllegalStateException(e);
            }
          }
        });
  }

  /** In µs, by order id. */
  Map<Long, Long> micros() {
    return micros;
  }

  @Override
  public void close() throws IOException {
    connection.close();
  }
}
