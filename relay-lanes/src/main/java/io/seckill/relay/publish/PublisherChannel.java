package io.seckill.relay.publish;

import com.rabbitmq.client.AlreadyClosedException;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderLines;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection with one channel in confirm mode, for one lane. Only the lane's thread publishes;
 * answers arrive on the connection's thread, which makes no channel calls. A failed link does not
 * recover: the lane closes it and opens another.
 *
 * <p>Each lane has its own connection, because an alarm blocks connections, not channels, and
 * because a failure of one lane must not affect the others.
 */
public final class PublisherChannel implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(PublisherChannel.class);

  private static final int ABORT_TIMEOUT_MS = 1_000;

  /**
   * Longest wait for confirms before the lane polls the outbox again. A shorter wait lowers the
   * latency, a longer one saves round trips.
   */
  private static final Duration CONFIRM_WAIT = Duration.ofMillis(4);

  private static final Duration QUIET_WAIT = Duration.ofMillis(100);

  private final Connection connection;
  private final Channel channel;
  private final LinkSocket socket;
  private final LinkSettings settings;
  private final UnconfirmedWindow window;
  private final RelayMeters meters;

  /** Time at which the broker blocked this connection, nanoTime; 0 = not blocked. */
  private volatile long blockedSince;

  /** Start of the confirm time-out: no confirms arrive while blocked, all of them afterwards. */
  private volatile long answeringSince = System.nanoTime();

  /** Whether no confirm arrived in time. */
  private volatile boolean silent;

  /** Waits in a row that brought no confirm; only the lane's thread uses it. */
  private int quietWaits;

  private PublisherChannel(
      Connection connection,
      Channel channel,
      LinkSocket socket,
      LinkSettings settings,
      RelayMeters meters) {
    this.connection = connection;
    this.channel = channel;
    this.socket = socket;
    this.settings = settings;
    this.window = new UnconfirmedWindow(settings.window());
    this.meters = meters;
  }

  /**
   * Declares the topology if this link is to, and enables confirms; closes the connection when that
   * fails.
   */
  static PublisherChannel over(
      Connection connection, LinkSocket socket, LinkSettings settings, RelayMeters meters)
      throws IOException {
    try {
      Channel channel = connection.createChannel();
      if (channel == null) {
        throw new IOException("the broker allows no channel");
      }
      if (settings.declares()) {
        BrokerTopology.declare(channel);
      }
      channel.confirmSelect();
      PublisherChannel link = new PublisherChannel(connection, channel, socket, settings, meters);
      link.listen();
      return link;
    } catch (IOException | RuntimeException | Error e) {
      connection.abort(ABORT_TIMEOUT_MS);
      throw e;
    }
  }

  private void listen() {
    channel.addConfirmListener(
        (tag, multiple) -> window.answer(tag, multiple, true, meters::confirmed),
        (tag, multiple) -> meters.nacked(window.answer(tag, multiple, false, meters::confirmed)));
    channel.addReturnListener(
        returned -> {
          meters.returned(OrderLines.split(returned.getBody()).size());
          window.returned(
              String.valueOf(returned.getProperties().getMessageId()),
              returned.getReplyText() + " (routing key " + returned.getRoutingKey() + ")");
        });
    connection.addBlockedListener(reason -> blocked(), this::unblocked);
    channel.addShutdownListener(
        cause -> window.fail("closed: " + BrokerFailureException.reason(cause)));
  }

  private synchronized void blocked() {
    if (blockedSince == 0) {
      long now = System.nanoTime();
      meters.blocked(now);
      blockedSince = now;
      window.wake();
    }
  }

  private synchronized void unblocked() {
    long since = blockedSince;
    answeringSince = System.nanoTime();
    blockedSince = 0;
    if (since != 0) {
      meters.unblocked(since);
    }
  }

  /** Whether an alarm blocks this connection: publish nothing and expect no confirms then. */
  public boolean isBlocked() {
    return blockedSince != 0;
  }

  /**
   * Publishes at most {@link #room} orders, persistent and mandatory, those of one queue together;
   * an unreadable entry as a dead letter.
   *
   * @throws BrokerFailureException when the link broke; some, all or none may have been sent
   */
  public void publish(List<OutboundOrder> orders) throws BrokerFailureException {
    meters.published(orders.size());
    try {
      socket.writes().holdBack();
      try {
        for (OutboundMessage message : OutboundMessage.of(orders)) {
          report(message.defect());
          window.enter(channel.getNextPublishSeqNo(), message, System.nanoTime());
          channel.basicPublish(
              message.exchange(), message.routingKey(), true, message.properties(), message.body());
        }
      } finally {
        socket.writes().release();
      }
    } catch (IOException | AlreadyClosedException e) {
      window.fail("publishing failed: " + BrokerFailureException.reason(e));
      throw new BrokerFailureException(String.valueOf(window.failure()), e);
    }
  }

  private void report(@Nullable String defect) {
    if (defect != null) {
      meters.unreadable();
      log.error("unreadable outbox entry becomes a dead letter: {}", defect);
    }
  }

  public int room() {
    return window.room();
  }

  public int pending() {
    return window.pending();
  }

  /**
   * Takes the orders that were confirmed (acked and not returned) since the last call. Returns
   * number of orders still without an answer at that moment.
   */
  public int drainConfirmed(List<OutboundOrder> into) {
    int before = into.size();
    int pending = window.drainConfirmed(into);
    into.subList(before, into.size()).forEach(OutboundOrder::confirmed);
    return pending;
  }

  /**
   * Waits for {@code enough} confirms, a refusal, the last answer, a failure, {@link #wake} or the
   * time-out; at a silent broker longer than at one that answers.
   *
   * @param into receives the orders that were confirmed (acked and not returned)
   */
  public void awaitConfirmed(int enough, List<OutboundOrder> into) throws InterruptedException {
    Duration wait = quietWaits < 4 ? CONFIRM_WAIT : QUIET_WAIT;
    window.await(enough, wait.toNanos());
    drainConfirmed(into);
    quietWaits = into.isEmpty() ? quietWaits + 1 : 0;
  }

  /** Waits for {@link #wake}, a failure or the time-out; nothing is in flight. */
  public void awaitWoken(Duration wait) throws InterruptedException {
    window.await(UnconfirmedWindow.NONE, wait.toNanos());
  }

  /** Ends the current wait of the lane at once, or the next one. From any thread. */
  public void wake() {
    window.wake();
  }

  /** Waits until nothing is pending, the channel failed, or the time is up. */
  public void awaitAnswered(Duration wait) throws InterruptedException {
    window.await(UnconfirmedWindow.ALL, wait.toNanos());
  }

  /**
   * @throws BrokerFailureException when this link must be replaced: closed, or no confirm within
   *     the time-out (not counting time blocked)
   * @throws OrdersRefusedException when something was nacked or returned since the last check
   */
  public void check() throws BrokerFailureException, OrdersRefusedException {
    checkFailure();
    String refusal = window.takeRefusal();
    if (refusal != null) {
      throw new OrdersRefusedException(refusal);
    }
  }

  /** Throws BrokerFailureException as {@link #check}. */
  public void checkFailure() throws BrokerFailureException {
    if (window.failure() == null
        && !isBlocked()
        && silentNanos() > settings.confirmTimeout().toNanos()) {
      silent = true;
      window.fail("no confirm for " + TimeUnit.NANOSECONDS.toMillis(silentNanos()) + " ms");
    }
    String failure = window.failure();
    if (failure != null) {
      throw new BrokerFailureException(failure, null);
    }
  }

  /** Makes the next {@link #check} ignore what was nacked or returned until now. */
  public void forgetRefusal() {
    window.takeRefusal();
  }

  /**
   * Declares the topology again, because orders were refused and a queue or binding may be missing;
   * leaves that to others if this link declares nothing.
   *
   * @throws BrokerFailureException when the broker refuses or is unavailable
   */
  public void declareTopology() throws BrokerFailureException {
    if (!settings.declares()) {
      return;
    }
    try {
      BrokerTopology.declare(channel);
    } catch (IOException | AlreadyClosedException e) {
      window.fail("declaring the topology failed: " + BrokerFailureException.reason(e));
      throw new BrokerFailureException(String.valueOf(window.failure()), e);
    }
  }

  private long silentNanos() {
    return Math.min(window.silentNanos(), System.nanoTime() - answeringSince);
  }

  /** Whether the broker is unavailable or silent, as opposed to refusing this lane's orders. */
  public boolean isUnavailable() {
    return silent || !connection.isOpen();
  }

  /** Closes the socket, even while a thread hangs in a write; from any thread. */
  public void sever() {
    socket.sever();
  }

  /** Closes the connection; waits at most one second for the broker. */
  @Override
  public void close() {
    unblocked();
    if (silent) {
      sever(); // a regular close could hang behind data that a silent broker does not read
    }
    try {
      connection.abort(ABORT_TIMEOUT_MS);
    } catch (RuntimeException | Error e) { // the client starts a thread to close a connection
      log.warn("a link to the broker is cut because it cannot be closed: {}", e.toString());
      sever();
    }
  }
}
