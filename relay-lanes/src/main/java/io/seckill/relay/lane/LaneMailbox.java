package io.seckill.relay.lane;

import io.seckill.relay.publish.OutboundOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Orders on their way from a gateway's admission to its lane of one partition. Admission reserves
 * room before its script call, which pushes the admitted orders to the private queue of the lease
 * returned, and then delivers what was pushed. Closed while the lane does not work normally:
 * admission uses the outbox then. What is dropped here is in the private queue. Thread-safe.
 *
 * <p>A lease is open once. After a close its lane reads the private queue to the end, and the next
 * lease is opened.
 */
public final class LaneMailbox {

  private final int window;
  private final Queue<OutboundOrder> entries = new ArrayDeque<>();

  /** Orders of calls that are under way, also of earlier leases. */
  private int reserved;

  /** Orders that the lane has taken and not settled, as it last reported. */
  private int unsettled;

  private @Nullable String lease;
  private boolean open;
  private boolean onTrial;
  private Runnable wake = () -> {};

  /**
   * @param window most orders reserved, delivered and not settled together, 1..4096
   */
  public LaneMailbox(int window) {
    this.window = window;
  }

  /**
   * Reserves room for the orders of one script call.
   *
   * @param orders most orders that the call may push
   * @return null when there is no room or the lane takes no orders now
   */
  public synchronized @Nullable Reservation reserve(int orders) {
    String token = lease;
    int used = reserved + entries.size() + unsettled;
    if (token == null || !open || used + orders > window || (onTrial && used > 0)) {
      return null;
    }
    reserved += orders;
    return new Reservation(token, orders);
  }

  /** Room for the orders of one script call. The first of two calls ends it. */
  public final class Reservation {

    private final String token;
    private final int orders;
    private boolean ended;

    private Reservation(String token, int orders) {
      this.token = token;
      this.orders = orders;
    }

    /** Of the lease to whose private queue the call may push. */
    public String token() {
      return token;
    }

    /**
     * Ends the reservation.
     *
     * @param pushed the orders that the call has pushed, oldest first; may be empty
     */
    public void deliver(List<OutboundOrder> pushed) {
      end(this, pushed);
    }

    /**
     * Ends the reservation of a call that may have pushed any of its orders, or was refused the
     * token: the lane reads its private queue.
     */
    public void unknown() {
      endUnknown(this);
    }
  }

  private synchronized void end(Reservation reservation, List<OutboundOrder> pushed) {
    if (release(reservation) && !pushed.isEmpty()) {
      entries.addAll(pushed);
      wake.run();
    }
  }

  private synchronized void endUnknown(Reservation reservation) {
    if (release(reservation)) {
      close();
      wake.run();
    }
  }

  /** Returns false when it had ended before, or its lease is not open. */
  private boolean release(Reservation reservation) {
    if (reservation.ended) {
      return false;
    }
    reservation.ended = true;
    reserved -= reservation.orders;
    return open && reservation.token.equals(lease);
  }

  /**
   * Opens for a lease with an empty private queue, if it is not open already.
   *
   * @param wakeLane ends the lane's wait
   * @param isTrial whether to take the orders of one call at a time: nothing else shows a lane that
   *     could not publish that it can
   * @return false when this lease was closed before: its private queue may hold any orders
   */
  synchronized boolean open(String token, Runnable wakeLane, boolean isTrial) {
    onTrial = isTrial;
    if (!token.equals(lease)) {
      lease = token;
      wake = wakeLane;
      unsettled = 0;
      open = true;
    }
    return open;
  }

  /** Takes no more orders for this lease. */
  synchronized void close() {
    open = false;
    entries.clear();
  }

  /**
   * Takes the orders that were delivered, oldest first.
   *
   * @param unsettledNow orders that the lane has not settled, without these
   */
  synchronized List<OutboundOrder> take(int most, int unsettledNow) {
    List<OutboundOrder> taken = new ArrayList<>();
    while (taken.size() < most && !entries.isEmpty()) {
      taken.add(entries.remove());
    }
    unsettled = unsettledNow + taken.size();
    return taken;
  }

  /** Orders that may be in the private queue and were not taken. */
  synchronized int outstanding() {
    return reserved + entries.size();
  }
}
