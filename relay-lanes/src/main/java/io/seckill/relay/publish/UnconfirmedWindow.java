package io.seckill.relay.publish;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The publishes of one channel that the broker has not answered, by publish sequence number. The
 * lane's thread adds publishes and takes confirmed orders out; the connection's thread delivers the
 * answers. Bounded by its capacity in orders, in memory too.
 *
 * <p>Confirmed means acked and not returned: the return of an unroutable message arrives before its
 * ack. A nacked or returned publish leaves the window; the lane is informed of the refusal and
 * publishes the remaining orders of its private queue again. A failure is final: the lane replaces
 * the channel.
 */
final class UnconfirmedWindow {

  /** Value of {@link #wanted} while the lane waits for every answer. */
  static final int ALL = Integer.MAX_VALUE;

  /** Value of {@link #wanted} while the lane waits for something else than answers. */
  static final int NONE = -1;

  private final @Nullable OutboundMessage[] messages;
  private final long[] sentAt;
  private final boolean[] returned;

  /** Sequence numbers from first up to, not including, next are in the arrays or answered. */
  private long first = 1;

  private long next = 1;

  /** Orders of the messages without an answer. */
  private int pending;

  /** Number of confirmed publishes the lane waits for; only the lane's thread waits. */
  private int wanted;

  /** Whether {@link #wake} was called since the last wait. */
  private boolean woken;

  private long answeredAt = System.nanoTime();
  private final List<OutboundOrder> confirmed = new ArrayList<>();
  private @Nullable String refusal;
  private @Nullable String failure;

  UnconfirmedWindow(int capacity) {
    messages = new OutboundMessage[capacity];
    sentAt = new long[capacity];
    returned = new boolean[capacity];
  }

  /**
   * Enters a publish that is about to be sent; there must be room for its orders.
   *
   * @param tag sequence number of the publish on the channel, one above that of the last
   */
  synchronized void enter(long tag, OutboundMessage message, long nanos) {
    if (tag != next || room() < message.orders().size()) {
      throw new IllegalStateException(
          "publish " + tag + " into a window of " + first + ".." + next);
    }
    int slot = slot(tag);
    messages[slot] = message;
    sentAt[slot] = nanos;
    returned[slot] = false;
    next++;
    pending += message.orders().size();
  }

  /** Number of orders that may be entered now, 0..capacity, in any number of messages. */
  synchronized int room() {
    return messages.length - Math.max(pending, (int) (next - first));
  }

  synchronized int pending() {
    return pending;
  }

  /**
   * Records the broker's answer to one publish, or to all up to this one.
   *
   * @param confirmTimes receives the send time of each confirmed order, by System.nanoTime
   * @return how many orders were answered
   */
  synchronized int answer(long tag, boolean multiple, boolean ack, LongConsumer confirmTimes) {
    int before = pending;
    answeredAt = System.nanoTime();
    for (long t = multiple ? first : Math.max(tag, first); t <= tag && t < next; t++) {
      answerOne(slot(t), ack, confirmTimes);
    }
    while (first < next && messages[slot(first)] == null) {
      first++;
    }
    notifyIfEnough();
    return before - pending;
  }

  private void answerOne(int slot, boolean ack, LongConsumer confirmTimes) {
    OutboundMessage message = messages[slot];
    if (message == null) {
      return;
    }
    messages[slot] = null;
    pending -= message.orders().size();
    if (!ack) {
      refusal = "the broker refused a message (nack): queue full or without a leader";
    } else if (!returned[slot]) {
      message.orders().forEach(order -> confirmTimes.accept(sentAt[slot]));
      confirmed.addAll(message.orders());
    }
  }

  /**
   * Marks a publish as unroutable; its ack, still to come, does not count. Messages of the same
   * first order may have different others: all that have no answer are marked, and are published
   * again.
   */
  synchronized void returned(String messageId, String reason) {
    for (long t = first; t < next; t++) {
      OutboundMessage message = messages[slot(t)];
      if (message != null && message.id().equals(messageId)) {
        returned[slot(t)] = true;
      }
    }
    refusal = "the broker returned a message: " + reason;
  }

  /** Marks the channel as failed: no further reliable answers arrive. The first reason is kept. */
  synchronized void fail(String reason) {
    if (failure == null) {
      failure = reason;
    }
    notifyIfEnough();
  }

  /** Returns why a publish was nacked or returned since the last call, or null if none was. */
  synchronized @Nullable String takeRefusal() {
    @Nullable String taken = refusal;
    refusal = null;
    return taken;
  }

  /** Why this channel cannot be used any longer, or null. */
  synchronized @Nullable String failure() {
    return failure;
  }

  /**
   * Takes out the orders that were confirmed since the last call.
   *
   * @param into receives them, in the order of the confirms
   * @return number of orders still without an answer at that moment
   */
  synchronized int drainConfirmed(List<OutboundOrder> into) {
    into.addAll(confirmed);
    confirmed.clear();
    return pending;
  }

  /**
   * How long publishes have been pending without any answer of the broker; 0 when nothing is
   * pending. Counted from its last answer, not from the oldest publish: with full windows a slow
   * broker takes long for each publish, and sending all of them again would make it even slower.
   */
  synchronized long silentNanos() {
    long now = System.nanoTime();
    return pending == 0 ? 0 : Math.min(now - answeredAt, now - sentAt[slot(first)]);
  }

  /** Ends the current wait at once, or the next one. */
  synchronized void wake() {
    woken = true;
    notifyAll();
  }

  /**
   * Waits for {@link #wake}, a failure or the time-out, and unless it is for {@link #NONE} for the
   * last answer.
   *
   * @param enough confirms that end the wait, as a refusal does, unless it is for {@link #ALL}
   */
  synchronized void await(int enough, long nanos) throws InterruptedException {
    long until = System.nanoTime() + nanos;
    wanted = enough;
    for (long left = nanos; left > 0 && !hasEnough(); left = until - System.nanoTime()) {
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    woken = false;
  }

  /** Wakes the lane only then: to wake it at every answer costs more than handling one confirm. */
  private void notifyIfEnough() {
    if (hasEnough()) {
      notifyAll();
    }
  }

  private boolean hasEnough() {
    if (woken || failure != null) {
      return true;
    }
    boolean confirmedOrRefused = wanted != ALL && (confirmed.size() >= wanted || refusal != null);
    return wanted != NONE && (confirmedOrRefused || pending == 0);
  }

  private int slot(long tag) {
    return (int) (tag % messages.length);
  }
}
