package io.seckill.consumer.runtime;

import java.time.Duration;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;

/** A {@link RunLock} that one process keeps from round to round: it leads. Thread-safe. */
public final class Leadership implements AutoCloseable {

  private static final Duration LATELY = Duration.ofSeconds(1);

  private final DataSource dataSource;
  private final String name;
  private final Duration silence;
  private final LongSupplier nanoTime;
  private volatile @Nullable RunLock lock;
  private volatile @Nullable Held lastHeld;

  /** As {@link RunLock#take}. */
  public Leadership(DataSource dataSource, String name, Duration silence) {
    this(dataSource, name, silence, System::nanoTime);
  }

  Leadership(DataSource dataSource, String name, Duration silence, LongSupplier nanoTime) {
    this.dataSource = dataSource;
    this.name = name;
    this.silence = silence;
    this.nanoTime = nanoTime;
  }

  /** When a lock was held, as MySQL said. */
  private record Held(RunLock held, long atNanos) {}

  /** Whether this process leads now; also keeps the lock. */
  public boolean isHeld() {
    RunLock held = lock;
    long now = nanoTime.getAsLong();
    if (held == null || !held.isHeld()) {
      lastHeld = null;
      return false;
    }
    lastHeld = new Held(held, now);
    return true;
  }

  /**
   * As {@link #isHeld}, as of a second ago at most: for a loop over thousands of sales, in which
   * each check is a statement.
   */
  public boolean isHeldLately() {
    Held last = lastHeld;
    boolean isLate =
        last == null
            || last.held() != lock
            || nanoTime.getAsLong() - last.atNanos() >= LATELY.toNanos();
    return !isLate || isHeld();
  }

  /**
   * Takes the lock, unless another process has it; for one that does not lead.
   *
   * @throws DataAccessException when MySQL is unavailable
   */
  public boolean take() {
    close();
    lock = RunLock.take(dataSource, name, silence).orElse(null);
    return lock != null;
  }

  /** Releases the lock, so that another process can lead. */
  @Override
  public void close() {
    RunLock held = lock;
    lock = null;
    if (held != null) {
      held.close();
    }
  }
}
