package io.seckill.bench.stage;

import io.seckill.system.load.LoadAnswer;
import io.seckill.testing.Bounded;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Measures the time from the moment a purchase was due until another MySQL session can see its
 * order confirmed. It queries every few milliseconds, so times are up to that much too long, never
 * too short. A purchase that was not accepted has no time; it is counted as failed.
 */
final class RowWatch {

  private final ConfirmedOrders orders;
  private final Duration interval;
  private final long patienceNanos;

  /** Oldest first, in the order of ids and, roughly, of rows. */
  private final ConcurrentSkipListMap<Long, Long> dueByOrder = new ConcurrentSkipListMap<>();

  private final Set<Long> known = new HashSet<>();
  private final Histogram micros = new Histogram(TimeUnit.MINUTES.toMicros(2), 3);
  private final Thread thread = new Thread(this::watch, "row-watch");
  private long accepted;
  private volatile boolean lastOneCame;
  private volatile Exception failure;

  private RowWatch(ConfirmedOrders orders, Duration interval, Duration patience) {
    this.orders = orders;
    this.interval = interval;
    this.patienceNanos = patience.toNanos();
    micros.setAutoResize(true);
    thread.setDaemon(true);
  }

  /** The rows to query. */
  @FunctionalInterface
  interface ConfirmedOrders {

    /** Returns the ids of the confirmed orders from one id to another, both included. */
    List<Long> between(long firstId, long lastId) throws SQLException;
  }

  /**
   * The results of a number of purchases; each is counted in exactly one of the three.
   *
   * @param micros from due time to row, of the purchases that have a row
   * @param failed refused, unanswered, or accepted without an order id
   * @param lost accepted, and without a confirmed row at the end of the wait
   */
  record Outcome(Histogram micros, long failed, long lost) {}

  /**
   * Starts querying on a separate thread, which ends with {@link #outcome}.
   *
   * @param orders used only by this object meanwhile
   * @param patience longest wait for the next row once all purchases are answered
   */
  static RowWatch start(ConfirmedOrders orders, Duration interval, Duration patience) {
    RowWatch watch = new RowWatch(orders, interval, patience);
    watch.thread.start();
    return watch;
  }

  /** Records an answer; called from one thread. */
  void answered(LoadAnswer answer) {
    String orderId = answer.status() == 202 ? answer.orderId() : "";
    if (!orderId.isEmpty()) {
      accepted++;
      Long id = Long.valueOf(orderId);
      if (known.add(id)) {
        dueByOrder.put(id, answer.dueNanos());
      }
    }
  }

  /**
   * Waits for the rows of all accepted purchases.
   *
   * @param purchases that were sent, answered or not
   */
  Outcome outcome(long purchases) throws InterruptedException, SQLException {
    lastOneCame = true;
    Bounded.join(thread);
    if (failure != null) {
      throw new SQLException("the orders in MySQL could not be read", failure);
    }
    return new Outcome(micros, purchases - accepted, accepted - micros.getTotalCount());
  }

  private void watch() {
    long lastSeen = System.nanoTime();
    try {
      while (!(lastOneCame && dueByOrder.isEmpty())
          && System.nanoTime() - lastSeen < patienceNanos) {
        if (look() || !lastOneCame) {
          lastSeen = System.nanoTime();
        }
        LockSupport.parkNanos(interval.toNanos());
      }
    } catch (SQLException e) {
      failure = e;
    }
  }

  /**
   * Queries all waiting orders by their range of ids: one short statement, however many there are.
   */
  private boolean look() throws SQLException {
    var oldest = dueByOrder.firstEntry();
    var newest = dueByOrder.lastEntry();
    if (oldest == null || newest == null) {
      return false;
    }
    List<Long> stored = orders.between(oldest.getKey(), newest.getKey());
    long now = System.nanoTime();
    boolean found = false;
    for (Long orderId : stored) {
      Long due = dueByOrder.remove(orderId);
      if (due != null) {
        micros.recordValue(TimeUnit.NANOSECONDS.toMicros(now - due));
        found = true;
      }
    }
    return found;
  }
}
