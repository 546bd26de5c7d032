package io.seckill.consumer.intake;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.ShutdownSignalException;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.consumer.broker.BrokerConnections;
import io.seckill.consumer.broker.IntakeConnection;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One life of a consumer: a connection, a channel, and the deliveries that came on it. When it
 * ends, for whatever reason, the broker gives everything unsettled to the next consumer; nothing of
 * one session is ever settled on another.
 *
 * <p>{@link #ack} is for one thread.
 */
final class IntakeSession implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(IntakeSession.class);

  private static final long ACK_GRACE_MS = 500;

  private final IntakeConnection link;
  private final Channel channel;
  private final String queue;
  private final Inbox inbox;
  private final CountDownLatch over = new CountDownLatch(1);
  private volatile String consumerTag = "";
  private volatile boolean open = true;

  /** Both only grow; each is written by one thread. */
  private final AtomicLong delivered = new AtomicLong();

  private final AtomicLong acked = new AtomicLong();

  private IntakeSession(IntakeConnection link, Channel channel, String queue, int prefetch) {
    this.link = link;
    this.channel = channel;
    this.queue = queue;
    this.inbox = new Inbox(prefetch);
  }

  /**
   * Declares the topology and begins to consume.
   *
   * @param prefetch most deliveries in hand
   * @throws IOException when the broker cannot be reached or refuses
   */
  static IntakeSession open(BrokerConnections connections, String queue, int prefetch)
      throws IOException {
    IntakeConnection link = connections.openLink("intake of " + queue);
    try {
      Channel channel = link.connection().createChannel();
      BrokerTopology.declare(channel);
      channel.basicQos(prefetch);
      IntakeSession session = new IntakeSession(link, channel, queue, prefetch);
      channel.addShutdownListener(session::ended);
      session.consumerTag =
          channel.basicConsume(queue, false, BrokerConnections.name(queue), session.new Inlet());
      return session;
    } catch (IOException | RuntimeException | Error e) {
      // A link that stays would be the queue's active consumer, and nobody would take from it.
      link.connection().abort(1_000);
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
      delivered.lazySet(delivered.get() + 1);
      if (!inbox.offer(Delivery.of(envelope, properties, body))) {
        log.error("{} sent more than the prefetch allows", queue);
        open = false; // the writer closes it
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
    over.countDown();
    if (!cause.isInitiatedByApplication()) {
      log.warn("The link to {} has ended: {}", queue, cause.getMessage());
    }
  }

  /** False once nothing more will come and nothing can be settled. */
  boolean isOpen() {
    return open;
  }

  /** Whether the broker has chosen this consumer: it has sent something. */
  boolean isActive() {
    return open && delivered.get() > 0;
  }

  /** Deliveries not acked; none once the session has ended, when the broker takes them back. */
  long unacked() {
    long settled = acked.get(); // first: later deliveries may make the answer too high, never low
    return open ? delivered.get() - settled : 0;
  }

  /** What has come and is not settled. */
  Inbox inbox() {
    return inbox;
  }

  /**
   * Settles each of these deliveries by itself and no other (FACTS 22): one frame each, but not one
   * write to the network each.
   *
   * @throws IOException or ShutdownSignalException when the session has ended: the broker delivers
   *     again
   */
  void ack(List<Delivery> deliveries) throws IOException {
    link.holdBack();
    try {
      for (Delivery delivery : deliveries) {
        channel.basicAck(delivery.tag(), false);
      }
      acked.lazySet(acked.get() + deliveries.size());
      inbox.settled(deliveries);
    } finally {
      link.release();
    }
  }

  /**
   * Gives everything unsettled back to the broker, in its old place at the head of the queue.
   *
   * <p>A channel hands acks on to a quorum queue 32 at a time and forgets the rest when it is
   * closed: orders stored and acked would come again. So it gets a moment to pass them on.
   */
  @Override
  public void close() {
    if (open && channel.isOpen()) {
      passAcksOn();
    }
    open = false;
    link.connection().abort(2_000);
  }

  private void passAcksOn() {
    try {
      channel.basicCancel(consumerTag);
      boolean unused = over.await(ACK_GRACE_MS, TimeUnit.MILLISECONDS);
    } catch (IOException | ShutdownSignalException e) {
      log.debug("{} ended by itself", queue, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
