package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.transaction.support.TransactionOperations;

class RetryingTransactionsTest {

  private final DataAccessException deadlock =
      new CannotAcquireLockException("", new SQLException("Deadlock found", "40001", 1213));
  private final DataAccessException lockWait =
      new CannotAcquireLockException("", new SQLException("Lock wait", "HY000", 1205));
  private final DataAccessException duplicate =
      new DuplicateKeyException("", new SQLException("Duplicate entry", "23000", 1062));
  private final DataAccessException unknownCommit =
      new DataAccessResourceFailureException("", new SQLException("Link failure", "08S01", 0));

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final AtomicInteger tries = new AtomicInteger();

  @Test
  void repeatsAfterDeadlocksAndLockWaits() {
    assertThat(run(Duration.ofMinutes(1), deadlock, lockWait, deadlock)).isEqualTo("done");
    assertThat(repeated()).isEqualTo(3);
  }

  @Test
  void givesUpWhenTheTimeIsOver() {
    assertThatThrownBy(() -> run(Duration.ZERO, lockWait)).isSameAs(lockWait);
    assertThat(tries).hasValue(1);
    assertThat(repeated()).isZero();
  }

  @Test
  void doesNotRepeatWhatIsRefusedOrMayBeCommitted() {
    assertThatThrownBy(() -> run(Duration.ofMinutes(1), duplicate)).isSameAs(duplicate);
    assertThatThrownBy(() -> run(Duration.ofMinutes(1), unknownCommit)).isSameAs(unknownCommit);
    assertThat(repeated()).isZero();
  }

  @Test
  void doesNotRepeatWhenItsThreadIsToStop() {
    Thread.currentThread().interrupt();

    assertThatThrownBy(() -> run(Duration.ofMinutes(1), deadlock)).isSameAs(deadlock);

    assertThat(Thread.interrupted()).isTrue();
    assertThat(tries).hasValue(1);
  }

  /** Runs work that fails with these, one after the other, and then succeeds. */
  private String run(Duration patience, DataAccessException... failures) {
    tries.set(0);
    return new RetryingTransactions(TransactionOperations.withoutTransaction(), patience, meters)
        .execute(
            tx -> {
              int number = tries.getAndIncrement();
              if (number < failures.length) {
                throw failures[number];
              }
              return "done";
            });
  }

  private double repeated() {
    return meters.get("seckill.consumer.lock.retries").counter().count();
  }
}
