package io.seckill.bench.stage;

import io.seckill.bench.lab.Ledger;
import io.seckill.bench.load.Answer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Takes the time from the moment a purchase was due until another MySQL session can see its row. It
 * asks every few milliseconds, so times are up to that much too long, never too short.
 */
final class RowWatch {

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Ledger ledger;
  private final Duration interval;

  /** Oldest first, as the ids are and as the rows come. */
  private final ConcurrentSkipListMap<Long, Long> dueByOrder = new ConcurrentSkipListMap<>();

  private final Histogram micros = new Histogram(TimeUnit.MINUTES.toMicros(2), 3);
  private final Thread thread = new Thread(this::watch, "row-watch");
  private volatile boolean lastOneCame;
  private volatile Exception failure;

  private RowWatch(Ledger ledger, Duration interval) {
    this.ledger = ledger;
    this.interval = interval;
    micros.setAutoResize(true);
    thread.setDaemon(true);
  }

  /**
   * Starts looking, on a thread of its own that ends with {@link #awaitRows()}.
   *
   * @param ledger used by nobody else meanwhile
   */
  static RowWatch start(Ledger ledger, Duration interval) {
    RowWatch watch = new RowWatch(ledger, interval);
    watch.thread.start();
    return watch;
  }

  /** Notes an accepted purchase; thread-safe. */
  void accepted(Answer answer) {
    if (answer.status() == 202) {
      dueByOrder.put(Long.valueOf(answer.orderId()), answer.dueNanos());
    }
  }

  /** Waits for the rows of all purchases noted so far, at most a minute. */
  Histogram awaitRows() throws InterruptedException {
    lastOneCame = true;
    thread.join();
    if (failure != null || !dueByOrder.isEmpty()) {
      throw new IllegalStateException(dueByOrder.size() + " orders have no row", failure);
    }
    return micros;
  }

  private void watch() {
    long lastSeen = System.nanoTime();
    try {
      while (!(lastOneCame && dueByOrder.isEmpty())
          && System.nanoTime() - lastSeen < PATIENCE_NANOS) {
        if (look() || !lastOneCame) {
          lastSeen = System.nanoTime();
        }
        LockSupport.parkNanos(interval.toNanos());
      }
    } catch (SQLException e) {
      failure = e;
    }
  }

  /** Asks for all that wait by their range: one short statement, however many they are. */
  private boolean look() throws SQLException {
    var oldest = dueByOrder.firstEntry();
    var newest = dueByOrder.lastEntry();
    if (oldest == null || newest == null) {
      return false;
    }
    List<Long> stored = ledger.storedBetween(oldest.getKey(), newest.getKey());
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
