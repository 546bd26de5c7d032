package io.seckill.consumer.intake;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.broker.BrokerConnections;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One life of a consumer: a connection, a channel, and the deliveries that came on it. When it
 * ends, for whatever reason, the broker gives everything unsettled to the next consumer; nothing of
 * one session is ever settled on another.
 *
 * <p>{@link #take} and {@link #retryLater} may be called by different threads; {@link #ack} by one.
 */
final class IntakeSession implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(IntakeSession.class);

  private final Connection connection;
  private final Channel channel;
  private final String queue;
  private final BlockingQueue<Delivery> inbox;
  private final PriorityQueue<Retry> retries = new PriorityQueue<>();
  private volatile boolean open = true;

  private record Retry(long atNanos, Delivery delivery) implements Comparable<Retry> {
    @Override
    public int compareTo(Retry other) {
      return Long.compare(atNanos - other.atNanos, 0);
    }
  }

  private IntakeSession(Connection connection, Channel channel, String queue, int prefetch) {
    this.connection = connection;
    this.channel = channel;
    this.queue = queue;
    this.inbox = new LinkedBlockingQueue<>(prefetch);
  }

  /**
   * Declares the topology and begins to consume.
   *
   * @param prefetch most deliveries in hand
   * @throws IOException when the broker cannot be reached or refuses
   */
  static IntakeSession open(BrokerConnections connections, String queue, int prefetch)
      throws IOException {
    Connection connection = connections.open("intake of " + queue);
    try {
      Channel channel = connection.createChannel();
      BrokerTopology.declare(channel);
      channel.basicQos(prefetch);
      IntakeSession session = new IntakeSession(connection, channel, queue, prefetch);
      channel.addShutdownListener(session::ended);
      channel.basicConsume(queue, false, session.new Inlet());
      return session;
    } catch (IOException | RuntimeException e) {
      connection.abort(1_000);
      throw e;
    }
  }

  /** Puts deliveries into the inbox; the prefetch keeps it from ever being full. */
  private final class Inlet extends DefaultConsumer {

    Inlet() {
      super(channel);
    }

    @Override
    public void handleDelivery(
        String consumerTag, Envelope envelope, BasicProperties properties, byte[] body) {
      if (!inbox.offer(Delivery.of(envelope.getDeliveryTag(), properties, body))) {
        log.error("{} sent more than the prefetch allows", queue);
        close();
      }
    }

    /** The queue was deleted, or the broker's delivery time-out struck (FACTS 24). */
    @Override
    public void handleCancel(String consumerTag) {
      log.warn("The broker has cancelled the consumer of {}", queue);
      open = false;
    }
  }

  private void ended(ShutdownSignalException cause) {
    open = false;
    if (!cause.isInitiatedByApplication()) {
      log.warn("The link to {} has ended: {}", queue, cause.getMessage());
    }
  }

  /** False once nothing more will come and nothing can be settled. */
  boolean isOpen() {
    return open;
  }

  /**
   * Takes what is there, without waiting when it is a full batch.
   *
   * @param max size of a full batch
   * @param linger longest wait for more, counted from the arrival of the first
   * @param idle longest wait for the first
   * @return at most max deliveries, oldest first; empty when none came
   */
  List<Delivery> take(int max, Duration linger, Duration idle) throws InterruptedException {
    List<Delivery> batch = new ArrayList<>(Math.min(max, inbox.size() + 16));
    takeDueRetries(batch, max);
    if (batch.isEmpty()) {
      Delivery first = inbox.poll(idle.toNanos(), TimeUnit.NANOSECONDS);
      if (first == null) {
        return batch;
      }
      batch.add(first);
    }
    long deadline = batch.get(0).receivedNanos() + linger.toNanos();
    inbox.drainTo(batch, max - batch.size());
    while (batch.size() < max) {
      long left = deadline - System.nanoTime();
      Delivery next = left <= 0 ? null : inbox.poll(left, TimeUnit.NANOSECONDS);
      if (next == null) {
        return batch;
      }
      batch.add(next);
      inbox.drainTo(batch, max - batch.size());
    }
    return batch;
  }

  /** Keeps a delivery in hand, unsettled, and has it taken again after the pause. */
  void retryLater(Delivery delivery, Duration pause) {
    synchronized (retries) {
      retries.add(new Retry(System.nanoTime() + pause.toNanos(), delivery));
    }
  }

  private void takeDueRetries(List<Delivery> batch, int max) {
    long now = System.nanoTime();
    synchronized (retries) {
      while (batch.size() < max && !retries.isEmpty() && retries.peek().atNanos() - now <= 0) {
        batch.add(retries.remove().delivery());
      }
    }
  }

  /**
   * Settles this delivery and no other (FACTS 22).
   *
   * @throws IOException or ShutdownSignalException when the session has ended: the broker delivers
   *     again
   */
  void ack(Delivery delivery) throws IOException {
    channel.basicAck(delivery.tag(), false);
  }

  /** Gives everything unsettled back to the broker, in its old place at the head of the queue. */
  @Override
  public void close() {
    open = false;
    connection.abort(2_000);
  }
}
