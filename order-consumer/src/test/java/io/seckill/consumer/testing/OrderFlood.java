package io.seckill.consumer.testing;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderLines;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.testing.Eventually;
import io.seckill.testing.RabbitVhost;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * Publishes orders directly to the exchange, without any check of gateway or Redis. Not
 * thread-safe.
 */
public final class OrderFlood implements AutoCloseable {

  private static final long TIME = 1_790_000_000_000L;
  private static final AtomicLong NEXT = new AtomicLong(1);

  private final Connection connection;
  private final Channel channel;

  public OrderFlood(RabbitVhost vhost) {
    try {
      this.connection = vhost.connect();
      this.channel = connection.createChannel();
      BrokerTopology.declare(channel);
      channel.confirmSelect();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns a new order with an id, request id and sequence number of its own, in epoch 1. */
  public static OrderMessage order(long skuId, PurchasePolicy policy, long userId, int quantity) {
    long n = NEXT.getAndIncrement();
    return new OrderMessage(
        OrderId.of(TIME + n / 1000, Partition.ofSku(skuId), 1, (int) (n % 1000)),
        userId,
        skuId,
        quantity,
        "request-" + n,
        policy,
        1,
        n,
        TIME + n,
        null);
  }

  /** Publishes all orders and waits until the broker has confirmed them. */
  public void publish(List<OrderMessage> orders) {
    for (OrderMessage order : orders) {
      send(order.skuId(), bytes(OrderMessageCodec.encode(order)), Map.of());
    }
    awaitConfirms();
  }

  /** The same for orders of one queue, with as many in a message as a busy relay puts there. */
  public void publishTogether(List<OrderMessage> orders) {
    for (int from = 0; from < orders.size(); from += OrderLines.MOST_ORDERS) {
      List<OrderMessage> some =
          orders.subList(from, Math.min(from + OrderLines.MOST_ORDERS, orders.size()));
      send(some.get(0).skuId(), bytes(lines(some)), Map.of());
    }
    awaitConfirms();
  }

  /** The body of one message with these orders. */
  public static String lines(List<OrderMessage> orders) {
    return orders.stream().map(OrderMessageCodec::encode).collect(Collectors.joining("\n"));
  }

  public void publish(OrderMessage... orders) {
    publish(List.of(orders));
  }

  /** Publishes any text to the queue of this SKU. */
  public void publishRaw(long skuId, String body, Map<String, Object> headers) {
    publishRaw(skuId, bytes(body), headers);
  }

  /** Publishes any bytes to the queue of this SKU. */
  public void publishRaw(long skuId, byte[] body, Map<String, Object> headers) {
    send(skuId, body, headers);
    awaitConfirms();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private void send(long skuId, byte[] body, Map<String, Object> headers) {
    BasicProperties properties =
        new BasicProperties.Builder()
            .deliveryMode(2)
            .contentType("application/json")
            .headers(headers)
            .build();
    String key = BrokerTopology.routingKey(Partition.ofSku(skuId));
    try {
      channel.basicPublish(BrokerTopology.ORDERS_EXCHANGE, key, true, properties, body);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private void awaitConfirms() {
    try {
      channel.waitForConfirmsOrDie(Eventually.SOON.toMillis());
    } catch (IOException | TimeoutException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    connection.abort(1_000);
  }
}
