package io.seckill.consumer.runtime;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.BlockedListener;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ShutdownSignalException;
import io.seckill.common.order.OrderMessage;
import java.io.IOException;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes persistent, mandatory messages with publisher confirms, on a connection of its own: a
 * broker alarm blocks connections that publish, and must not block those that consume (facts.md
 * 21). Thread-safe.
 *
 * <p>The connection is opened on first use and reopened after every failure, a second after the
 * last try has ended: a try may take seconds, and every caller waits for it.
 */
public final class ConfirmingPublisher implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(ConfirmingPublisher.class);

  private static final long RECONNECT_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final String NUMBER = "seckill-publish";

  private final BrokerConnections connections;
  private final String purpose;
  private final Declaration declaration;

  private @Nullable Link link;
  private long retryAtNanos = System.nanoTime();
  private boolean closed;

  /**
   * Declares the exchanges, queues and bindings that the published messages need: on a new link,
   * and again when a message was returned.
   */
  public interface Declaration {
    void on(Channel channel) throws IOException;
  }

  public ConfirmingPublisher(
      BrokerConnections connections, String purpose, Declaration declaration) {
    this.connections = connections;
    this.purpose = purpose;
    this.declaration = declaration;
  }

  /** The properties of an order that is sent again; it is null if it cannot be read. */
  @SuppressWarnings("JavaUtilDate") // the AMQP client takes no other time
  public static BasicProperties.Builder properties(@Nullable OrderMessage order) {
    return new BasicProperties.Builder()
        .messageId(order == null ? null : order.orderId().toString())
        .contentType("application/json")
        .timestamp(new Date())
        .appId("order-consumer");
  }

  /**
   * Publishes without waiting for the confirm.
   *
   * @return completes with true when the broker has acked and not returned the message (facts.md
   *     16), with false when the broker has nacked or returned it, is unavailable, or blocks
   *     publishers. It may stay incomplete for as long as the broker does not answer: wait with a
   *     time-out, and treat a missing answer as "unknown" (facts.md 17)
   */
  public synchronized CompletableFuture<Boolean> publish(
      String exchange, String routingKey, BasicProperties properties, byte[] body) {
    Link open = openLink();
    if (open == null || open.blocked) {
      return CompletableFuture.completedFuture(false);
    }
    try {
      return open.publish(exchange, routingKey, properties, body);
    } catch (IOException | ShutdownSignalException e) {
      log.warn("Cannot publish {}: {}", purpose, e.toString());
      open.close();
      return CompletableFuture.completedFuture(false);
    }
  }

  /**
   * As {@link #publish}, and waits for the confirm. Returns false also when no answer came in time,
   * or the thread was interrupted: the broker may or may not have the message.
   */
  public boolean publishAndWait(
      String exchange, String routingKey, BasicProperties properties, byte[] body) {
    return isConfirmed(publish(exchange, routingKey, properties, body), confirmDeadline());
  }

  /** When to stop waiting for the confirms of what is published now, by System.nanoTime. */
  public long confirmDeadline() {
    return System.nanoTime() + BrokerConnections.CONFIRM_TIMEOUT.toNanos();
  }

  /** As {@link #await}; an interrupt is kept, and counts as a nack too. */
  public static boolean isConfirmed(CompletableFuture<Boolean> confirm, long deadlineNanos) {
    try {
      return await(confirm, deadlineNanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** No answer in time counts as a nack: a duplicate message is harmless, a lost one is not. */
  public static boolean await(CompletableFuture<Boolean> confirm, long deadlineNanos)
      throws InterruptedException {
    try {
      long left = Math.max(0, deadlineNanos - System.nanoTime());
      return Boolean.TRUE.equals(confirm.get(left, TimeUnit.NANOSECONDS));
    } catch (TimeoutException | ExecutionException e) {
      return false;
    }
  }

  private @Nullable Link openLink() {
    Link current = link;
    if (current != null && current.channel.isOpen()) {
      return current;
    }
    if (closed || System.nanoTime() - retryAtNanos < 0) {
      return null;
    }
    if (current != null) {
      current.close();
    }
    try {
      link = new Link(connections.open(purpose), declaration);
    } catch (IOException | ShutdownSignalException e) {
      log.warn("No connection for {}: {}", purpose, e.toString());
      link = null;
    } finally {
      retryAtNanos = System.nanoTime() + RECONNECT_PAUSE_NANOS;
    }
    return link;
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (link != null) {
      link.close();
    }
  }

  /** One connection with its only channel; never reopened. */
  private static final class Link {

    private final Connection connection;
    private final Channel channel;
    private final Declaration declaration;
    private final ConcurrentNavigableMap<Long, CompletableFuture<Boolean>> open =
        new ConcurrentSkipListMap<>();
    private volatile boolean blocked;

    /** Whether a message was returned since the last declaration: a binding may be missing. */
    private volatile boolean returned;

    Link(Connection connection, Declaration declaration) throws IOException {
      this.connection = connection;
      this.declaration = declaration;
      try {
        this.channel = connection.createChannel();
        declaration.on(channel);
        channel.confirmSelect();
      } catch (IOException | RuntimeException e) {
        connection.abort(0);
        throw e;
      }
      watch();
    }

    private void watch() {
      channel.addConfirmListener(
          (number, multiple) -> answer(number, multiple, true),
          (number, multiple) -> answer(number, multiple, false));
      channel.addReturnListener(
          message -> {
            returned = true; // before the answer, after which the caller may publish again
            Map<String, Object> headers = message.getProperties().getHeaders();
            if (headers != null && headers.get(NUMBER) instanceof Number number) {
              answer(number.longValue(), false, false);
            }
            log.warn("{} is returned: {}", message.getRoutingKey(), message.getReplyText());
          });
      channel.addShutdownListener(
          cause -> {
            open.values().forEach(answer -> answer.complete(false));
            open.clear();
          });
      connection.addBlockedListener(
          new BlockedListener() {
            @Override
            public void handleBlocked(String reason) {
              blocked = true;
              open.values().forEach(answer -> answer.complete(false));
            }

            @Override
            public void handleUnblocked() {
              blocked = false;
            }
          });
    }

    /**
     * A return arrives before its ack (facts.md 16): the first answer to a sequence number counts.
     */
    private void answer(long number, boolean multiple, boolean confirmed) {
      Map<Long, CompletableFuture<Boolean>> answered =
          multiple ? open.headMap(number, true) : open.subMap(number, true, number, true);
      answered.values().forEach(waiting -> waiting.complete(confirmed));
      answered.clear();
    }

    CompletableFuture<Boolean> publish(
        String exchange, String routingKey, BasicProperties properties, byte[] body)
        throws IOException {
      if (returned) {
        returned = false;
        declaration.on(channel);
      }
      long number = channel.getNextPublishSeqNo();
      CompletableFuture<Boolean> answer = new CompletableFuture<>();
      open.put(number, answer);
      Map<String, Object> headers = new HashMap<>();
      if (properties.getHeaders() != null) {
        headers.putAll(properties.getHeaders());
      }
      headers.put(NUMBER, number);
      BasicProperties numbered = properties.builder().headers(headers).deliveryMode(2).build();
      channel.basicPublish(exchange, routingKey, true, numbered, body);
      if (!channel.isOpen()) {
        answer.complete(false);
      }
      return answer;
    }

    void close() {
      connection.abort(1_000);
    }
  }
}
