package io.seckill.consumer.wallet;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.DetailColumn;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.runtime.Snapshots;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.runtime.UtcColumn;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Checks wallets with new entries every hour, the first time of a day and after a difference all of
 * them as a whole, in one of several processes. A wallet that differs from its entries is frozen:
 * only its user stops until an operator has looked.
 */
@Component
public class WalletCheck {

  private static final Logger log = LoggerFactory.getLogger(WalletCheck.class);

  private static final Duration EVERY = Duration.ofHours(1);
  private static final Duration PAUSE = Duration.ofMinutes(1);

  /** Longer than a page takes. */
  private static final Duration LOCK_SILENCE = Duration.ofMinutes(10);

  private final JdbcOperations jdbc;
  private final Wallets wallets;
  private final Snapshots snapshots;
  private final DataSource pool;
  private final Pace pace;
  private volatile long differences;

  /** Of the latest check, or of the latest step of a new one; until that is read, of the start. */
  private volatile long checkedNanos = System.nanoTime();

  /** Whether this process has failed to end a check: the steps of its next one prove nothing. */
  private volatile boolean isUnfinished;

  WalletCheck(
      JdbcOperations jdbc,
      ConnectionPools pools,
      Snapshots snapshots,
      Wallets wallets,
      Pace pace,
      MeterRegistry meters) {
    this.jdbc = jdbc;
    this.wallets = wallets;
    this.pace = pace;
    this.pool = pools.reconciliation();
    this.snapshots = snapshots;
    Gauge.builder("seckill.consumer.wallet.differences", () -> differences)
        .description("Differences that the latest check of the wallets has found")
        .register(meters);
    Gauge.builder("seckill.consumer.wallet.check.age", this::ageSeconds)
        .description("Time since the latest check of the wallets, or since a step of a new one")
        .baseUnit("seconds")
        .register(meters);
  }

  private long ageSeconds() {
    return Duration.ofNanos(System.nanoTime() - checkedNanos).toSeconds();
  }

  /**
   * A check of the wallets.
   *
   * @param whole whether it read all wallets and entries, and not only those since the check before
   * @param wallets that were compared
   * @param entries that were compared
   * @param differences their number
   * @param detail the first of them, and how many more there are
   */
  public record WalletCheckReport(
      Instant checkedAt,
      boolean whole,
      long wallets,
      long entries,
      int differences,
      List<String> detail) {}

  @Bean
  Sweeper walletSweeper() {
    return new Sweeper("wallet-check", PAUSE, this::round);
  }

  /** Checks if the latest check is an hour old, unless another process does. */
  void round() {
    Instant now = now();
    Optional<WalletCheckReport> latest = latest();
    differences = latest.map(WalletCheckReport::differences).orElse(0);
    Instant last = latest.map(WalletCheckReport::checkedAt).orElse(null);
    if (last != null) {
      checkedNanos = System.nanoTime() - Duration.between(last, now).toNanos();
    }
    if (isDue(last, now)) {
      var unused = check(differences > 0 || isFirstOfDay(last, now));
    }
  }

  private Instant now() {
    return UtcColumn.now(JdbcClient.create(jdbc));
  }

  /** A time to come is a wrong one: a former release stored that of its own clock. */
  static boolean isDue(@Nullable Instant last, Instant now) {
    return last == null || last.isAfter(now) || last.plus(EVERY).isBefore(now);
  }

  static boolean isFirstOfDay(@Nullable Instant last, Instant now) {
    return last == null
        || !LocalDate.ofInstant(last, ZoneOffset.UTC)
            .equals(LocalDate.ofInstant(now, ZoneOffset.UTC));
  }

  /**
   * Reads every entry of every wallet.
   *
   * @throws ProblemException 503 BUSY while another check runs
   */
  WalletCheckReport checkWhole() {
    return check(true)
        .orElseThrow(() -> ProblemException.of(ProblemCode.BUSY, "Another check is running."));
  }

  private Optional<WalletCheckReport> check(boolean whole) {
    try (RunLock lock = RunLock.take(pool, "wallet-check", LOCK_SILENCE).orElse(null)) {
      return lock == null ? Optional.empty() : Optional.of(check(whole, lock));
    }
  }

  private WalletCheckReport check(boolean whole, RunLock lock) {
    Runnable steps = pace.steps(lock);
    boolean areProgress = !isUnfinished;
    Runnable stepEnds =
        () -> {
          steps.run();
          if (areProgress) {
            checkedNanos = System.nanoTime();
          }
        };
    isUnfinished = true;
    long startNanos = System.nanoTime();
    Instant start = now();
    WalletChecker checked =
        snapshots.read(mysql -> new WalletChecker(mysql, whole).run(this::keepVerified, stepEnds));
    List<String> detail = checked.differences().kept();
    detail.forEach(found -> log.error("wallets: {}", found));
    differences = checked.differences().count();
    checked.toFreeze().forEach(this::freeze); // first: without a report the check is due again
    jdbc.update(
        "REPLACE INTO wallet_check VALUES (1, ?, ?, ?, ?, ?, ?)",
        UtcColumn.text(start),
        whole,
        checked.wallets(),
        checked.entries(),
        checked.differences().count(),
        DetailColumn.text(detail));
    checkedNanos = startNanos;
    isUnfinished = false;
    return latest().orElseThrow();
  }

  /** If its row is locked, the next check tries again. */
  private void freeze(long user) {
    try {
      WalletTable.setState(jdbc, user, WalletState.FROZEN);
    } catch (DataAccessException e) {
      SqlFailure.throwIfAway(e);
      log.error("wallets: user {} cannot be frozen: {}", user, e.toString());
    }
  }

  /** A page that cannot be marked is read again by the next check. */
  private void keepVerified(Map<Long, Long> verified) {
    try {
      wallets.setVerified(verified);
    } catch (DataAccessException | TransactionException e) {
      log.warn("wallets: some are right and cannot be marked so: {}", e.toString());
    }
  }

  /** Empty before the first check. */
  public Optional<WalletCheckReport> latest() {
    return jdbc
        .query(
            "SELECT * FROM wallet_check WHERE id = 1",
            (row, number) ->
                new WalletCheckReport(
                    UtcColumn.instant(row, "checked_at"),
                    row.getBoolean("whole"),
                    row.getLong("wallets"),
                    row.getLong("entries"),
                    row.getInt("differences"),
                    row.getString("detail").lines().toList()))
        .stream()
        .findFirst();
  }
}
