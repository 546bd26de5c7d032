package io.seckill.consumer.runtime;

import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataAccessException;

/** A {@link RunLock} that one process keeps from round to round: it leads. Thread-safe. */
public final class Leadership implements AutoCloseable {

  private final DataSource dataSource;
  private final String name;
  private final Duration silence;
  private volatile @Nullable RunLock lock;

  /** As {@link RunLock#take}. */
  public Leadership(DataSource dataSource, String name, Duration silence) {
    this.dataSource = dataSource;
    this.name = name;
    this.silence = silence;
  }

  /** Whether this process leads now; also keeps the lock. */
  public boolean isHeld() {
    RunLock held = lock;
    return held != null && held.isHeld();
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
