package io.seckill.consumer.wallet;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.Snapshots;
import io.seckill.consumer.testing.EditedEntries;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.wallet.WalletCheck.WalletCheckReport;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** The check finds and freezes wallets whose books are not sound. */
@ExtendWith(TestServers.class)
class WalletCheckIT extends WalletBooks {

  /** {@code edit} and its opposite, {@code undo}. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "wallet|balance_cents = 61|balance_cents = 60|balance 61, but 60 after the last entry",
        "wallet|seq = 4|seq = 3|seq 4, but the last entry is 3",
        "wallet_entry|seq = 20|seq = 2|entry 2 is missing",
        "wallet_entry|kind = 'RECHARGE'|kind = 'CHARGE'|entry 2, RECHARGE of -60",
        "wallet_entry|amount_cents = -59|amount_cents = -60|entry 2 leaves 40, not 41",
        "wallet_entry|balance_after = 41|balance_after = 40|entry 2 leaves 41, not 40",
        "wallet_entry|charge_id = 1|charge_id = CHARGE|charge 1 is null, but booked as",
        "wallet_charge|amount_cents = 61|amount_cents = 60|charge CHARGE is",
        "wallet_charge|refunded_cents = 21|refunded_cents = 20|charge CHARGE is",
        "wallet_charge|user_id = 1|user_id = USER|charge CHARGE is",
      })
  void findsARowChangedByHand(String table, String edit, String undo, String difference) {
    recharge(user, 100);
    charge(60);
    refund("refund-01", 20);
    edit(table, edit, undo);
    Answer found = check();
    edit(table, undo, edit);

    assertThat(found.text())
        .contains("user " + user + ": " + difference.replace("CHARGE is", charge + " is"));
    assertThat(check().text()).doesNotContain("user " + user + ":");
  }

  /** No wallet shows it: the sums of all are compared, if no other difference explains them. */
  @Test
  void findsAChargeWithoutAnEntry() {
    recharge(user, 100);
    charge(60);
    long lost = NEXT.incrementAndGet();
    consumer.update(
        "INSERT INTO wallet_charge (charge_id, user_id, amount_cents, refunded_cents, closed)"
            + " VALUES (?, ?, 60, 0, FALSE)",
        lost,
        user);
    Answer found = check();
    consumer.update("DELETE FROM wallet_charge WHERE charge_id = ?", lost);

    assertThat(found.text()).contains("charges of 60 have no entry");
    assertThat(check().text()).doesNotContain("have no entry");
  }

  /** In one snapshot, so operations meanwhile are no difference. */
  @Test
  void aRowChangedByHandIsFoundAndStopsThatUserOnly() throws Exception {
    recharge(user, 100);
    charge(60);
    long other = NEXT.incrementAndGet();
    recharge(other, 100);
    assertThat(check().text()).as("at first").doesNotContain("" + user);
    Thread operations =
        new Thread(
            () -> {
              for (int i = 0; !Thread.currentThread().isInterrupted(); i++) {
                wallets.execute(
                    of(other, WalletKind.CHARGE, "request-" + (1_000 + i), 1, user * 1_000 + i));
              }
            });
    operations.start();
    EditedEntries.update(
        consumer, "UPDATE wallet_entry SET amount_cents = 90 WHERE user_id = ? AND seq = 1", user);
    Answer found = check();
    assertThat(consumer.gauge("seckill.consumer.wallet.differences"))
        .as("for the alert")
        .isPositive();
    operations.interrupt();
    Bounded.join(operations);

    assertThat(found.text()).contains("user " + user + ": entry 1 leaves 100, not 90");
    assertThat(found.text()).doesNotContain("user " + other);
    assertThat(wallets.execute(of(user, WalletKind.CHARGE, "charge-02", 1, other)).code())
        .isEqualTo(WalletCode.WALLET_FROZEN);
    EditedEntries.update(
        consumer, "UPDATE wallet_entry SET amount_cents = 100 WHERE user_id = ? AND seq = 1", user);
    assertThat(check().text()).doesNotContain("user " + user);
    assertThat(consumer.api().get("/internal/v1/wallet/check").text()).contains("\"whole\":true");
  }

  /** The entries since the check before show nothing, a charge that differs is still there. */
  @Test
  void aDifferenceIsLookedForUntilItIsGone() {
    recharge(user, 100);
    charge(60);
    edit("wallet_charge", "refunded_cents = 21", "refunded_cents = 0");
    check();
    WalletCheckReport later = later("61 MINUTE");
    edit("wallet_charge", "refunded_cents = 0", "refunded_cents = 21");

    assertThat(later.detail()).anyMatch(found -> found.startsWith("user " + user + ": charge "));
    assertThat(check().text()).doesNotContain("user " + user + ":");
  }

  @Test
  void theFirstScheduledCheckOfADayReadsEveryEntry() {
    check();
    consumer.update("UPDATE wallet_check SET differences = 0"); // no other reason to read them

    assertThat(later("1 DAY").whole()).isTrue();
  }

  /** Those before them were verified; {@code whole} is false in the scheduled check. */
  @Test
  void theScheduledCheckReadsTheEntriesSinceTheCheckBefore() {
    recharge(user, 100);
    check();
    charge(60);
    edit("wallet_entry", "amount_cents = -59", "amount_cents = -60");
    List<Long> found = hourly().toFreeze();
    edit("wallet_entry", "amount_cents = -60", "amount_cents = -59");

    assertThat(found).contains(user);
  }

  @Test
  void theScheduledCheckReadsNoWalletWithoutNewEntries() {
    List<Long> users = rechargeChargeAndRefund(600);
    check();
    WalletChecker before = hourly();
    users.subList(0, 3).forEach(each -> recharge(each, 5, "recharge-1"));
    WalletChecker after = hourly();

    assertThat(after.wallets()).isEqualTo(before.wallets() + 3);
    assertThat(after.entries()).isEqualTo(before.entries() + 3);
    assertThat(after.toFreeze()).doesNotContainAnyElementsOf(users);
    forget(users);
  }

  private static WalletChecker hourly() {
    return new WalletChecker(consumer.bean(JdbcOperations.class), false).run(page -> {}, () -> {});
  }

  /** Each of these has three entries and a charge. */
  @Test
  void theWholeCheckReadsManyWalletsByFewStatements() {
    int before = statements();
    List<Long> users = rechargeChargeAndRefund(500);

    assertThat(statements()).isLessThan(before + 20);
    forget(users);
  }

  private static int statements() {
    AtomicInteger connections = new AtomicInteger();
    JdbcOperations counted =
        new JdbcTemplate(
            new DelegatingDataSource(consumer.bean(DataSource.class)) {
              @Override
              public Connection getConnection() throws SQLException {
                connections.incrementAndGet();
                return super.getConnection();
              }
            });
    var unused = new WalletChecker(counted, true).run(page -> {}, () -> {});
    return connections.get();
  }

  private List<Long> rechargeChargeAndRefund(int count) {
    List<Long> users = LongStream.range(0, count).mapToObj(i -> 10_000 * user + i).toList();
    List<WalletOperation> operations =
        users.stream()
            .flatMap(
                each ->
                    Stream.of(
                        of(each, WalletKind.RECHARGE, "request-01", 10, null),
                        of(each, WalletKind.CHARGE, "request-02", 10, each),
                        of(each, WalletKind.REFUND, "request-03", 4, each)))
            .toList();
    assertThat(codes(wallets.execute(operations))).containsOnly(WalletCode.DONE);
    return users;
  }

  /** Users that follow one another: each whole check of a later test would read them. */
  private static void forget(List<Long> users) {
    long last = users.get(users.size() - 1);
    String these = " WHERE user_id BETWEEN " + users.get(0) + " AND " + last;
    EditedEntries.update(consumer, "DELETE FROM wallet_entry" + these);
    consumer.update("DELETE FROM wallet_charge" + these);
    consumer.update("DELETE FROM wallet" + these);
  }

  /** One that cannot be frozen, and one that cannot be marked as right. */
  @Test
  void walletsThatCannotBeWrittenKeepTheCheckFromNoOther() {
    long other = NEXT.incrementAndGet();
    long sound = NEXT.incrementAndGet();
    rechargeAndDiffer(other, sound);
    consumer.asRoot(
        "CREATE TRIGGER refusal BEFORE UPDATE ON wallet FOR EACH ROW"
            + " IF NEW.user_id IN (%d, %d) THEN".formatted(user, sound)
            + " SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END IF");
    Answer found;
    try {
      found = check();
    } finally {
      consumer.asRoot("DROP TRIGGER refusal");
    }

    assertOnlyTheOtherIsFrozen(found, other);
    setBalances(100, other);
    assertThat(check().text()).doesNotContain("user " + user, "user " + other);
  }

  /** The check has read the wallet before that, and finds a difference that is gone. */
  @Test
  void aWalletThatAnOperatorReleasesDuringACheckStaysActive() {
    recharge(user, 100);
    String balance = "UPDATE wallet SET balance_cents = ? WHERE user_id = ?";
    consumer.update(balance, 101, user);
    check();
    assertThat(state(user)).isEqualTo("FROZEN");
    AtomicInteger updates = new AtomicInteger();
    JdbcOperations jdbc =
        new JdbcTemplate(consumer.bean(DataSource.class)) {
          @Override
          public int update(String sql, Object... values) {
            if (updates.getAndIncrement() == 0) { // all wallets are read
              consumer.update(balance, 100, user);
              consumer
                  .api()
                  .put("/internal/v1/wallets/" + user + "/state", "{\"state\":\"ACTIVE\"}");
            }
            return super.update(sql, values);
          }
        };
    WalletCheck check = walletCheck(jdbc, new SimpleMeterRegistry());

    WalletCheckReport found =
        eventually().ignoreExceptions().until(check::checkWhole, report -> true);

    assertThat(found.detail()).anyMatch(each -> each.startsWith("user " + user + ":"));
    assertThat(state(user)).isEqualTo("ACTIVE");
    assertThat(check().text()).doesNotContain("user " + user + ":");
  }

  /** With a report the next check would come after an hour. */
  @Test
  void aCheckThatLosesMySqlBeforeItHasFrozenAllIsDueAgain() {
    check();
    long other = NEXT.incrementAndGet();
    rechargeAndDiffer(other, NEXT.incrementAndGet());
    AtomicInteger tries = new AtomicInteger();
    JdbcOperations jdbc =
        new JdbcTemplate(consumer.bean(DataSource.class)) {
          @Override
          public int update(String sql, Object... values) {
            if (sql.startsWith("INSERT INTO wallet ")) {
              tries.incrementAndGet();
              throw new CannotGetJdbcConnectionException("for the test");
            }
            return super.update(sql, values);
          }
        };
    WalletCheck check = walletCheck(jdbc, new SimpleMeterRegistry());
    Optional<WalletCheckReport> before = check.latest();

    eventually("no other check to be running")
        .untilAsserted(
            () ->
                assertThatThrownBy(check::checkWhole)
                    .isInstanceOf(CannotGetJdbcConnectionException.class));

    assertThat(tries).as("each would wait for a connection").hasValue(1);
    assertThat(check.latest()).isEqualTo(before);
    setBalances(100, other);
    assertThat(check().text()).doesNotContain("user " + user, "user " + other);
  }

  private static WalletCheck walletCheck(JdbcOperations jdbc, MeterRegistry meters) {
    return new WalletCheck(
        jdbc,
        consumer.bean(ConnectionPools.class),
        consumer.bean(Snapshots.class),
        wallets,
        consumer.bean(Pace.class),
        meters);
  }

  /** As after a stop of hours. Another check may be running, or come first. */
  @Test
  void theAgeOfACheckIsThatOfTheNewOneAsSoonAsItIsMade() {
    check();
    MeterRegistry meters = new SimpleMeterRegistry();
    WalletCheck check = walletCheck(consumer.bean(JdbcOperations.class), meters);

    eventually()
        .until(
            () -> {
              consumer.update("UPDATE wallet_check SET checked_at = checked_at - INTERVAL 3 HOUR");
              check.round();
              return meters.get("seckill.consumer.wallet.check.age").gauge().value();
            },
            age -> age < 60);
  }

  /** Its steps are progress only if checks come to an end. */
  @Test
  void theAgeDuringACheckIsThatOfItsLatestStepUnlessTheCheckBeforeHasFailed() {
    check();
    MeterRegistry meters = new SimpleMeterRegistry();
    List<Double> ages = new ArrayList<>();
    JdbcOperations jdbc =
        new JdbcTemplate(consumer.bean(DataSource.class)) {
          @Override
          public int update(String sql, Object... values) {
            if (sql.startsWith("REPLACE INTO wallet_check")) { // all wallets are read
              ages.add(meters.get("seckill.consumer.wallet.check.age").gauge().value());
              throw new CannotGetJdbcConnectionException("for the test");
            }
            return super.update(sql, values);
          }
        };
    WalletCheck check = walletCheck(jdbc, meters);

    for (int i = 0; i < 2; i++) {
      eventually("no other check to be running, or to come first")
          .untilAsserted(
              () -> {
                consumer.update(
                    "UPDATE wallet_check SET checked_at = checked_at - INTERVAL 3 HOUR");
                assertThatThrownBy(check::round)
                    .isInstanceOf(CannotGetJdbcConnectionException.class);
              });
    }
    check();

    assertThat(ages).hasSize(2);
    assertThat(ages.get(0)).isLessThan(60);
    assertThat(ages.get(1)).isGreaterThanOrEqualTo(3 * 3_600);
  }

  /** A COMMIT that marks wallets as right may wait for a standby. */
  @Test
  void theSnapshotOfACheckOutlivesAStandstill() {
    recharge(user, 100);
    ConnectionPools pools = consumer.bean(ConnectionPools.class);
    JdbcTemplate snapshot = new JdbcTemplate(pools.reconciliation()); // its thread's connection
    DataSource pool = consumer.bean(DataSource.class);
    List<Long> silences = new ArrayList<>();
    DataSource marking =
        new DelegatingDataSource(pool) {
          @Override
          public Connection getConnection() throws SQLException {
            silences.addAll(snapshot.queryForList("SELECT @@SESSION.wait_timeout", Long.class));
            return super.getConnection();
          }
        };
    WalletCheck check =
        new WalletCheck(
            new JdbcTemplate(pool),
            pools,
            consumer.bean(Snapshots.class),
            new Wallets(marking, new ConnectionShare(1), new SimpleMeterRegistry()),
            consumer.bean(Pace.class),
            new SimpleMeterRegistry());

    eventually().ignoreExceptions().until(check::checkWhole, report -> true);

    assertThat(silences).isNotEmpty().allMatch(seconds -> seconds >= 60);
  }

  /** As long as the others wait for them. */
  @Tag("proof")
  @Test
  void lockedWalletsKeepTheCheckFromNoOther() throws Exception {
    long other = NEXT.incrementAndGet();
    long sound = NEXT.incrementAndGet();
    rechargeAndDiffer(other, sound);
    Answer found;
    try (RowLock lock =
        consumer.lock(
            "SELECT * FROM wallet WHERE user_id IN (%d, %d) FOR UPDATE".formatted(user, sound))) {
      found = check();
      lock.release();
    }
    assertOnlyTheOtherIsFrozen(found, other);
    check();
    assertThat(state(user)).isEqualTo("FROZEN");

    setBalances(100, other);
    assertThat(check().text()).doesNotContain("user " + user, "user " + other);
  }

  /** The user and the other one have a cent more than their entries say. */
  private void rechargeAndDiffer(long other, long sound) {
    for (long each : List.of(user, other, sound)) {
      recharge(each, 100);
    }
    setBalances(101, other);
  }

  private void setBalances(long cents, long other) {
    String balances = "UPDATE wallet SET balance_cents = ? WHERE user_id IN (?, ?)";
    assertThat(consumer.update(balances, cents, user, other)).isEqualTo(2);
  }

  private void assertOnlyTheOtherIsFrozen(Answer found, long other) {
    assertThat(found.text()).contains("user " + user + ":", "user " + other + ":");
    assertThat(state(other)).isEqualTo("FROZEN");
    assertThat(state(user)).isEqualTo("ACTIVE");
  }

  /** The others of its page, whose owners would wait as long, are marked without waiting for it. */
  @Test
  void theCheckMarksWalletsBesideALockedOne() throws Exception {
    long held = NEXT.incrementAndGet();
    recharge(user, 100);
    recharge(held, 100);
    try (RowLock lock =
        consumer.lock("SELECT * FROM wallet WHERE user_id = %d FOR UPDATE".formatted(held))) {
      check();
      lock.release();
    }
    assertThat(verified(user)).isEqualTo(1);
    assertThat(verified(held)).isZero();
    check();
    assertThat(verified(held)).isEqualTo(1);
  }

  private static long verified(long user) {
    return consumer.number("SELECT verified_seq FROM wallet WHERE user_id = ?", user);
  }

  /** A rest, and a sign of life for the lock, after each page of entries. */
  @Test
  void theCheckOfALongWalletHasSteps() {
    recharge(user, 1);
    long before = steps();
    for (int call = 0; call < 9; call++) {
      List<WalletOperation> operations = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        operations.add(
            of(user, WalletKind.RECHARGE, "request-" + (1_000 * call + 10_000 + i), 1, null));
      }
      assertThat(codes(wallets.execute(operations))).containsOnly(WalletCode.DONE);
    }

    assertThat(steps())
        .as("4501 entries in pages of 2000, which begin among those of other wallets")
        .isBetween(before + 2, before + 3);
    assertThat(hourly().entries()).isGreaterThanOrEqualTo(4_501);
    assertThat(hourly().toFreeze()).doesNotContain(user);
    assertThat(check().text()).doesNotContain("user " + user + ":");
    forget(List.of(user));
  }

  private static long steps() {
    AtomicLong steps = new AtomicLong();
    var unused =
        new WalletChecker(consumer.bean(JdbcOperations.class), true)
            .run(page -> {}, steps::incrementAndGet);
    return steps.get();
  }
}
