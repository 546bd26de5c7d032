package io.seckill.bench.lab;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Consumer;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.MessageProperties;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderLines;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.testing.RabbitVhost;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

/** The broker's order queues, filled, read and emptied without the services. */
public final class OrderQueues implements AutoCloseable {

  private static final int WINDOW = 2_000;
  private static final long CONFIRM_LIMIT_MS = 60_000;
  private static final Duration LOOK = Duration.ofMillis(300);

  private final RabbitVhost vhost;
  private final Connection connection;
  private final Channel channel;
  private int unconfirmed;

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

  /** Publishes like a relay with a backlog; returns when everything is confirmed. */
  public void publish(List<OrderMessage> orders)
      throws IOException, InterruptedException, TimeoutException {
    Map<String, List<OrderMessage>> byQueue = new TreeMap<>();
    for (OrderMessage order : orders) {
      String key = BrokerTopology.routingKey(Partition.ofSku(order.skuId()));
      List<OrderMessage> waiting = byQueue.computeIfAbsent(key, queue -> new ArrayList<>());
      waiting.add(order);
      if (waiting.size() == OrderLines.MOST_ORDERS) {
        publish(key, waiting);
        waiting.clear();
      }
    }
    for (Map.Entry<String, List<OrderMessage>> rest : byQueue.entrySet()) {
      if (!rest.getValue().isEmpty()) {
        publish(rest.getKey(), rest.getValue());
      }
    }
    awaitConfirms();
  }

  private void publish(String routingKey, List<OrderMessage> orders)
      throws IOException, InterruptedException, TimeoutException {
    List<byte[]> lines =
        orders.stream()
            .map(order -> OrderMessageCodec.encode(order).getBytes(StandardCharsets.UTF_8))
            .toList();
    channel.basicPublish(
        BrokerTopology.ORDERS_EXCHANGE,
        routingKey,
        true,
        properties(orders.get(0)),
        OrderLines.join(lines));
    if (++unconfirmed == WINDOW) {
      awaitConfirms();
    }
  }

  private void awaitConfirms() throws IOException, InterruptedException, TimeoutException {
    channel.waitForConfirmsOrDie(CONFIRM_LIMIT_MS);
    unconfirmed = 0;
  }

  /** Takes all messages out; returns the number of their orders. No consumer may run. */
  public long takeAll() throws IOException {
    AtomicLong orders = new AtomicLong();
    List<String> tags = new ArrayList<>();
    for (int i = 0; i < BrokerTopology.ORDER_QUEUES; i++) {
      tags.add(channel.basicConsume(BrokerTopology.orderQueue(i), true, counting(orders)));
    }
    AtomicLong before = new AtomicLong(-1);
    Waiting.until(
        "order queues to be read",
        LOOK,
        () -> before.getAndSet(orders.get()) == orders.get() && depth() == 0);
    for (String tag : tags) {
      channel.basicCancel(tag);
    }
    return orders.get();
  }

  private Consumer counting(AtomicLong orders) {
    return new DefaultConsumer(channel) {
      @Override
      public void handleDelivery(
          String tag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) {
        orders.addAndGet(OrderLines.split(body).size());
      }
    };
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
