package io.seckill.consumer.runtime;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.seckill.common.order.OrderId;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Has background work yield to the storing of orders. A task does its work in short steps; after
 * each one its thread rests for a multiple of the time that the step took, so that it uses at most
 * a third of its time while orders are stored, and a seventeenth while they wait. It never stops.
 *
 * <p>MySQL's rows say how far storing is, so every process sees the same, whichever of them stores.
 * Thread-safe.
 */
@Component
public final class Pace {

  /** The progress of storing by the newest rows; the number is the rest for each unit of work. */
  enum StoringLoad {
    IDLE(0),
    STORING(2),
    /** Orders wait longer than {@link #LAG_MS} from their admission to their row. */
    BEHIND(16);

    private final int rests;

    StoringLoad(int rests) {
      this.rests = rests;
    }

    /**
     * @param orders stored lately
     * @param lagMs the longest of their waits
     */
    static StoringLoad of(long orders, long lagMs) {
      if (orders == 0) {
        return IDLE;
      }
      return lagMs > LAG_MS ? BEHIND : STORING;
    }
  }

  /**
   * Above the needs of a healthy pipeline, and above the difference of the hosts' clocks: a gateway
   * whose clock is further behind slows all background work.
   */
  private static final long LAG_MS = 2_000;

  /**
   * At most the rows of the last second at full speed, of every queue; read from an index. Rows
   * from a time to come were stored before MySQL's clock was set back.
   */
  private static final String LAG =
      "SELECT COUNT(*), MAX(UNIX_TIMESTAMP(created_at) * 1000 - order_id DIV :idsOfMs) - :epoch"
          + " FROM ("
          + "SELECT order_id, created_at FROM orders WHERE status = 'CONFIRMED'"
          + " AND created_at BETWEEN NOW(6) - INTERVAL 5 SECOND AND NOW(6)"
          + " ORDER BY created_at DESC LIMIT 4000) newest";

  private static final long READ_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** A long step, such as one that waited for a lock, does not stop a task for minutes. */
  private static final long LONGEST_REST_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** Of steps that follow one another: the comparison of a small sale takes less. */
  private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Supplier<StoringLoad> reader;
  private final LongSupplier nanoTime;
  private final LongConsumer sleep;
  private final Timer rests;
  private final AtomicLong readNanos;
  private volatile StoringLoad load = StoringLoad.IDLE;

  @Autowired
  Pace(JdbcClient jdbc, MeterRegistry meters) {
    this(() -> read(jdbc), System::nanoTime, Sleeps::nanos, meters);
  }

  /**
   * @param sleep waits for this number of nanoseconds
   */
  Pace(
      Supplier<StoringLoad> reader,
      LongSupplier nanoTime,
      LongConsumer sleep,
      MeterRegistry meters) {
    this.reader = reader;
    this.nanoTime = nanoTime;
    this.sleep = sleep;
    this.readNanos = new AtomicLong(nanoTime.getAsLong() - READ_EVERY_NANOS);
    this.rests =
        Timer.builder("seckill.consumer.background.rests")
            .description("Rests of background work, so that orders are stored")
            .register(meters);
  }

  static StoringLoad read(JdbcClient jdbc) {
    return jdbc.sql(LAG)
        .param("idsOfMs", 1L << OrderId.TIME_SHIFT)
        .param("epoch", OrderId.EPOCH_MS)
        .query((row, number) -> StoringLoad.of(row.getLong(1), row.getLong(2)))
        .single();
  }

  /**
   * Does one step of background work and then rests, not after the interrupt of a stop.
   *
   * @param work a page of rows, some milliseconds of MySQL's time; ends its transaction
   * @throws DataAccessException also when MySQL does not say how far storing is; the step is done
   */
  public <T> T step(Supplier<T> work) {
    long started = nanoTime.getAsLong();
    T result = work.get();
    rest(nanoTime.getAsLong() - started);
    return result;
  }

  /**
   * Begins steps that follow one another, for one thread. Like {@link #step}, but it rests only
   * when they have taken long enough together, so a small task ends without a rest.
   *
   * @return to be called at the end of each step
   */
  public Runnable steps() {
    long[] started = {nanoTime.getAsLong()};
    return () -> {
      long worked = nanoTime.getAsLong() - started[0];
      if (worked >= LONG_NANOS) {
        rest(worked);
        started[0] = nanoTime.getAsLong();
      }
    };
  }

  /** As {@link #steps()}; each step also keeps a lock, which is idle meanwhile. */
  public Runnable steps(RunLock lock) {
    Runnable stepEnds = steps();
    return () -> {
      stepEnds.run();
      lock.isHeld();
    };
  }

  private void rest(long workedNanos) {
    long rest = Math.min(workedNanos * load().rests, LONGEST_REST_NANOS);
    if (rest > 0) {
      sleep.accept(rest);
      rests.record(Duration.ofNanos(rest));
    }
  }

  /** The load, at most a second old; one of several threads reads it. */
  private StoringLoad load() {
    long now = nanoTime.getAsLong();
    long read = readNanos.get();
    if (now - read >= READ_EVERY_NANOS && readNanos.compareAndSet(read, now)) {
      load = reader.get();
    }
    return load;
  }
}
