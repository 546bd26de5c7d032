package io.seckill.bench.lab;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.testing.RabbitVhost;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

/** The broker's order queues, filled, read and emptied without the services. */
public final class OrderQueues implements AutoCloseable {

  private static final int WINDOW = 2_000;
  private static final long CONFIRM_LIMIT_MS = 60_000;

  private final RabbitVhost vhost;
  private final Connection connection;
  private final Channel channel;

  private OrderQueues(RabbitVhost vhost, Connection connection, Channel channel) {
    this.vhost = vhost;
    this.connection = connection;
    this.channel = channel;
  }

  /** Declares the topology, as the services do. */
  public static OrderQueues open(RabbitVhost vhost) throws IOException, TimeoutException {
    Connection connection = Lab.broker(vhost).newConnection("bench");
    Channel channel = connection.createChannel();
    BrokerTopology.declare(channel);
    channel.confirmSelect();
    return new OrderQueues(vhost, connection, channel);
  }

  /** Publishes like the relay; returns when everything is confirmed. */
  public void publish(List<OrderMessage> orders)
      throws IOException, InterruptedException, TimeoutException {
    int unconfirmed = 0;
    for (OrderMessage order : orders) {
      channel.basicPublish(
          BrokerTopology.ORDERS_EXCHANGE,
          BrokerTopology.routingKey(Partition.ofSku(order.skuId())),
          true,
          properties(order),
          OrderMessageCodec.encode(order).getBytes(StandardCharsets.UTF_8));
      if (++unconfirmed == WINDOW) {
        channel.waitForConfirmsOrDie(CONFIRM_LIMIT_MS);
        unconfirmed = 0;
      }
    }
    channel.waitForConfirmsOrDie(CONFIRM_LIMIT_MS);
  }

  /**
   * Returns the number of messages in all order queues, at most about a quarter of a second old.
   */
  public long depth() {
    return IntStream.range(0, BrokerTopology.ORDER_QUEUES)
        .mapToLong(i -> vhost.queueDepth(BrokerTopology.orderQueue(i)).total())
        .sum();
  }

  /** Empties all order queues and waits until they are; no consumer may run. */
  public void purge() throws IOException {
    for (int i = 0; i < BrokerTopology.ORDER_QUEUES; i++) {
      channel.queuePurge(BrokerTopology.orderQueue(i));
    }
    Waiting.until("order queues to be empty", Duration.ofMillis(100), () -> depth() == 0);
  }

  private static AMQP.BasicProperties properties(OrderMessage order) {
    return MessageProperties.PERSISTENT_BASIC
        .builder()
        .contentType("application/json")
        .messageId(order.orderId().toString())
        .build();
  }

  @Override
  public void close() throws IOException {
    connection.close();
  }
}
