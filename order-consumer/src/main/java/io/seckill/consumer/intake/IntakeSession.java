package io.seckill.consumer.intake;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.runtime.BrokerConnections;
import io.seckill.consumer.storage.DatabaseUnavailableException;
import io.seckill.consumer.storage.StoredBatch;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One session of a consumer: a connection, a channel, and the deliveries received on it, which are
 * stored in batches and acked. When it ends, for any reason, the broker redelivers everything
 * unsettled to the next consumer; a delivery of one session is never settled on another.
 *
 * <p>Only one thread calls {@link #storeBatches}, and one {@link #ack}.
 */
final class IntakeSession implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(IntakeSession.class);

  /** Orders in a batch from which the next one waits for more: fewer are stored at once. */
  private static final int BUSY = 8;

  /** Longest wait for more orders while many arrive: fewer and larger transactions. */
  private static final Duration LINGER = Duration.ofMillis(8);

  /** A stop, the end of the session and a retry end the wait earlier. */
  private static final Duration IDLE_POLL = Duration.ofSeconds(1);

  /** Polls without an order before MySQL is probed: payments and strong sales need it, too. */
  private static final int IDLE_POLLS = 5;

  private static final long ACK_GRACE_MS = 500;

  private final Connection connection;
  private final Channel channel;
  private final String queue;
  private final Inbox inbox;
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile boolean open = true;

  /** Orders; both only grow, and each is written by one thread. */
  private final AtomicLong delivered = new AtomicLong();

  private final AtomicLong acked = new AtomicLong();
  private final SettledTags settled = new SettledTags();

  private IntakeSession(Connection connection, Channel channel, String queue, int prefetch) {
    this.connection = connection;
    this.channel = channel;
    this.queue = queue;
    this.inbox = new Inbox(prefetch);
  }

  /**
   * Declares the topology and begins to consume.
   *
   * @param prefetch most unsettled messages
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
      channel.basicConsume(queue, false, BrokerConnections.name(queue), session.new Inlet());
      return session;
    } catch (IOException | RuntimeException | Error e) {
      // Left open, it could stay the queue's active consumer with no thread taking its deliveries.
      connection.abort(1_000);
      throw e;
    }
  }

  /** Puts deliveries into the inbox; the prefetch keeps it from becoming full. */
  private final class Inlet extends DefaultConsumer {

    Inlet() {
      super(channel);
    }

    @Override
    public void handleDelivery(
        String consumerTag, Envelope envelope, BasicProperties properties, byte[] body) {
      List<Delivery> orders = Delivery.of(envelope, properties, body, delivered.get());
      delivered.lazySet(delivered.get() + orders.size());
      if (!orders.stream().allMatch(inbox::offer)) {
        log.error("{} sent more than the prefetch allows", queue);
        end(); // the writer closes it
      }
    }

    /** The queue was deleted, or the broker's delivery time-out expired (facts.md 24). */
    @Override
    public void handleCancel(String consumerTag) {
      log.warn("The broker has cancelled the consumer of {}", queue);
      end();
    }
  }

  /** {@link #storeBatches} does not wait for deliveries any more. */
  private void end() {
    open = false;
    inbox.wake();
  }

  private void ended(ShutdownSignalException cause) {
    end();
    over.countDown();
    if (!cause.isInitiatedByApplication()) {
      log.warn("The connection to {} has ended: {}", queue, cause.getMessage());
    }
  }

  /**
   * Stores batches until the session ends, MySQL is unavailable, or no more is wanted.
   *
   * @param most orders of a batch
   * @param isWanted false once the intake is to stop, which wakes the inbox
   */
  void storeBatches(
      DatabaseGate database,
      SettlingThread settling,
      IntakeProgress progress,
      int most,
      BooleanSupplier isWanted)
      throws InterruptedException {
    Duration linger = Duration.ZERO;
    int idle = 0;
    try {
      while (isWanted.getAsBoolean() && isOpen()) {
        progress.moved();
        List<Delivery> batch = inbox.take(most, linger, IDLE_POLL);
        linger = batch.size() < BUSY ? Duration.ZERO : LINGER;
        idle = batch.isEmpty() ? idle + 1 : 0;
        if (idle == IDLE_POLLS) {
          idle = 0;
          if (!database.probe()) {
            return;
          }
        } else if (!batch.isEmpty()) {
          StoredBatch stored = store(batch, database, progress);
          settling.settle(new Settler.StoredDeliveries(this, batch, stored));
        }
      }
    } catch (DatabaseUnavailableException e) {
      progress.batchFailed();
    }
  }

  private static StoredBatch store(
      List<Delivery> batch, DatabaseGate database, IntakeProgress progress)
      throws DatabaseUnavailableException {
    List<OrderMessage> orders =
        batch.stream().map(Delivery::order).filter(Objects::nonNull).toList();
    if (orders.isEmpty()) {
      return StoredBatch.EMPTY;
    }
    StoredBatch stored = database.store(orders);
    progress.batchStored();
    return stored;
  }

  /** False once no more deliveries arrive and none can be settled. */
  boolean isOpen() {
    return open;
  }

  /** Whether this is the queue's active consumer: the broker has sent it a delivery. */
  boolean isActive() {
    return open && delivered.get() > 0;
  }

  /** Number of unsettled orders; 0 once the session has ended, when the broker requeues them. */
  long unacked() {
    long settled = acked.get(); // read first: the result may be too high, but never too low
    return open ? delivered.get() - settled : 0;
  }

  Inbox inbox() {
    return inbox;
  }

  /**
   * Settles these deliveries, and acks the messages whose last order is settled and no other
   * (facts.md 22): with one frame for those below which nothing is unsettled, which is all of a
   * batch unless one of them waits for a retry, and one each for the others, in the order of tags,
   * which the broker finds fastest.
   *
   * @throws IOException or ShutdownSignalException when the session has ended: the broker
   *     redelivers
   */
  void ack(List<Delivery> deliveries) throws IOException {
    long[] tags = settled(deliveries).stream().mapToLong(Long::longValue).sorted().toArray();
    int together = settled.add(tags);
    if (together > 0) {
      channel.basicAck(tags[together - 1], true);
    }
    for (int i = together; i < tags.length; i++) {
      channel.basicAck(tags[i], false);
    }
    acked.lazySet(acked.get() + deliveries.size());
    inbox.settled(deliveries);
  }

  /** Returns the tags of the messages whose last order is settled now. */
  private static List<Long> settled(List<Delivery> deliveries) {
    List<Long> tags = new ArrayList<>();
    for (Delivery delivery : deliveries) {
      if (delivery.message().settleOne()) {
        tags.add(delivery.message().tag());
      }
    }
    return tags;
  }

  /**
   * Returns everything unsettled to the broker, which requeues it in its old place at the head of
   * the queue, for the standby. After a basic.cancel the standby would get what lies behind it at
   * once, and forward a barrier from there.
   *
   * <p>A channel forwards acks to a quorum queue 32 at a time and drops the rest when it is closed:
   * orders that are stored and acked would be redelivered. So the channel first gets a moment to
   * forward them; what is delivered meanwhile is returned, too.
   */
  @Override
  public void close() {
    if (open && channel.isOpen()) {
      passAcksOn();
    }
    end();
    connection.abort(2_000);
  }

  private void passAcksOn() {
    try {
      boolean unused = over.await(ACK_GRACE_MS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
