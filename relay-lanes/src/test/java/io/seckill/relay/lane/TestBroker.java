package io.seckill.relay.lane;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.Delivery;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderLines;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.UnreadableMessageException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/**
 * Consumes the messages of the order queues and the dead-letter queue, and counts them: of the
 * former each order, with its id as the message id.
 */
public final class TestBroker implements AutoCloseable {

  private final Connection connection;
  private final Channel channel;
  private final List<Delivery> orders = new ArrayList<>();
  private final List<Delivery> deadLetters = new ArrayList<>();
  private final Map<String, Integer> deliveries = new LinkedHashMap<>();

  private TestBroker(String url) {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setAutomaticRecoveryEnabled(false);
    try {
      factory.setUri(url);
      connection = factory.newConnection("test");
      channel = connection.createChannel();
      BrokerTopology.declare(channel);
    } catch (IOException | TimeoutException | URISyntaxException | GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Declares the topology and consumes from all queues. */
  public static TestBroker consuming(String url) {
    TestBroker broker = new TestBroker(url);
    broker.consume();
    return broker;
  }

  /** Declares the topology; consumes nothing until {@link #consume()}. */
  public static TestBroker watching(String url) {
    return new TestBroker(url);
  }

  public void consume() {
    try {
      for (int i = 0; i < BrokerTopology.ORDER_QUEUES; i++) {
        channel.basicConsume(
            BrokerTopology.orderQueue(i), true, (tag, order) -> received(order), tag -> {});
      }
      channel.basicConsume(
          BrokerTopology.DEAD_QUEUE, true, (tag, dead) -> receivedDead(dead), tag -> {});
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private synchronized void received(Delivery message) {
    List<byte[]> parts = OrderLines.split(message.getBody());
    for (byte[] part : parts) {
      Delivery order = parts.size() == 1 ? message : alone(message, part);
      orders.add(order);
      deliveries.merge(order.getProperties().getMessageId(), 1, Integer::sum);
    }
  }

  private static Delivery alone(Delivery message, byte[] order) {
    try {
      String id = OrderMessageCodec.decode(order).orderId().toString();
      return new Delivery(
          message.getEnvelope(), message.getProperties().builder().messageId(id).build(), order);
    } catch (UnreadableMessageException e) {
      throw new IllegalStateException(e);
    }
  }

  private synchronized void receivedDead(Delivery deadLetter) {
    deadLetters.add(deadLetter);
  }

  /** All orders delivered from the order queues, in the order of arrival. */
  public synchronized List<Delivery> orders() {
    return List.copyOf(orders);
  }

  synchronized List<Delivery> deadLetters() {
    return List.copyOf(deadLetters);
  }

  /** Ids of the orders delivered so far, with the number of deliveries of each. */
  public synchronized Map<String, Integer> deliveries() {
    return Map.copyOf(deliveries);
  }

  /** Number of different orders delivered so far. */
  public synchronized int seen() {
    return deliveries.size();
  }

  /** Deliveries beyond the first of each order. */
  public synchronized int duplicates() {
    return orders.size() - deliveries.size();
  }

  Channel channel() {
    return channel;
  }

  @Override
  public void close() {
    connection.abort(1_000);
  }
}
