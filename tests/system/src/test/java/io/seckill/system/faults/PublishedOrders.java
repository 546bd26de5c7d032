package io.seckill.system.faults;

import static java.util.stream.Collectors.toSet;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Delivery;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderLines;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.UnreadableMessageException;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;

/**
 * Counts the orders that relays publish while this is open. It reads them from its own queue, which
 * is bound in addition to the order queues, so that an order published twice is counted twice. For
 * one thread.
 */
final class PublishedOrders implements AutoCloseable {

  private final BrokerClient broker;
  private final String queue;
  private final Map<String, Integer> times = new ConcurrentHashMap<>();

  PublishedOrders(LabServers servers) throws IOException, TimeoutException {
    broker = new BrokerClient(servers);
    queue = broker.channel().queueDeclare().getQueue();
    for (int i = 0; i < BrokerTopology.ORDER_QUEUES; i++) {
      broker
          .channel()
          .queueBind(queue, BrokerTopology.ORDERS_EXCHANGE, BrokerTopology.routingKey(i));
    }
    broker
        .channel()
        .basicConsume(
            queue,
            true,
            (tag, message) -> ids(message).forEach(id -> times.merge(id, 1, Integer::sum)),
            tag -> {});
  }

  /** The orders of a message, or the test's own mark. */
  private static List<String> ids(Delivery message) {
    byte[] body = message.getBody();
    return body.length == 0
        ? List.of(String.valueOf(message.getProperties().getMessageId()))
        : OrderLines.split(body).stream().map(PublishedOrders::id).toList();
  }

  private static String id(byte[] order) {
    try {
      return OrderMessageCodec.decode(order).orderId().toString();
    } catch (UnreadableMessageException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns those of the orders that have been published, or those that have not. */
  Set<String> of(Collection<String> orderIds, boolean published) throws IOException {
    catchUp();
    return orderIds.stream().filter(id -> (times(id) > 0) == published).collect(toSet());
  }

  /** Whether one of these was published more than once. */
  boolean hasTwice(Collection<String> orderIds) {
    return orderIds.stream().anyMatch(id -> times(id) > 1);
  }

  private int times(String orderId) {
    return times.getOrDefault(orderId, 0);
  }

  /** Waits until everything that the broker has routed before has been read. */
  private void catchUp() throws IOException {
    String mark = UUID.randomUUID().toString();
    BasicProperties properties = new BasicProperties.Builder().messageId(mark).build();
    broker.channel().basicPublish("", queue, properties, new byte[0]);
    Signals.await("the test's own message", () -> times.containsKey(mark));
  }

  @Override
  public void close() {
    broker.close();
  }
}
