package io.seckill.consumer.wallet;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.runtime.CallerBatcher;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.testing.EditedEntries;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.consumer.wallet.WalletCheck.WalletCheckReport;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/** A wallet of its own. After each test the books are sound. */
abstract class WalletBooks {

  static final AtomicLong NEXT = new AtomicLong(3_100_000);

  static final TestConsumer consumer = TestConsumer.shared();
  static final Wallets wallets = consumer.bean(Wallets.class);

  final long user = NEXT.incrementAndGet();
  final long charge = NEXT.incrementAndGet();

  @AfterEach
  void theBooksAreSound() {
    assertThat(
            consumer
                .sql()
                .sql(
                    "SELECT w.user_id FROM wallet w LEFT JOIN (SELECT user_id, COUNT(*) AS entries,"
                        + " SUM(amount_cents) AS cents FROM wallet_entry GROUP BY user_id) e"
                        + " ON e.user_id = w.user_id WHERE w.user_id >= 3100000"
                        + " AND (w.balance_cents <> COALESCE(e.cents, 0)"
                        + " OR w.seq <> COALESCE(e.entries, 0))")
                .query(Long.class)
                .list())
        .isEmpty();
  }

  /** BUSY has done nothing. */
  static List<WalletOutcome> until(Supplier<List<WalletOutcome>> call) {
    List<WalletOutcome> outcomes = call.get();
    while (codes(outcomes).contains(WalletCode.BUSY)) {
      outcomes = call.get();
    }
    return outcomes;
  }

  /** Repeats an operation whose lock was not free in time. */
  static WalletOutcome unlessBusy(Callable<WalletOutcome> operation) {
    return eventually().until(operation, one -> one.code() != WalletCode.BUSY);
  }

  static WalletOutcome refund(long user, long charge) {
    return wallets.execute(of(user, WalletKind.REFUND, "refund-001", 5, charge));
  }

  /** Repeats an operation whose lock was not free in time; not one that was refused a thread. */
  static Answer unlessBusy(String operation) {
    Answer answer;
    do {
      answer = operations(operation);
    } while (answer.status() == 200 && answer.text().contains("BUSY"));
    return answer;
  }

  /** Threads that wait for a batch. */
  static long waiting() {
    return Thread.getAllStackTraces().values().stream()
        .filter(
            stack ->
                Stream.of(stack)
                    .anyMatch(frame -> frame.getClassName().equals(CallerBatcher.class.getName())))
        .count();
  }

  String operation(String key, String amount) {
    return "{\"userId\":%d,\"kind\":\"RECHARGE\",\"requestId\":\"%s\",\"amountCents\":%s}"
        .formatted(user, key, amount);
  }

  static Answer operations(String operations) {
    return consumer
        .api()
        .post("/internal/v1/wallet/operations", "{\"operations\":[" + operations + "]}");
  }

  /** Of entries, the charge. */
  void edit(String table, String to, String from) {
    String own =
        switch (table) {
          case "wallet" -> "user_id = USER";
          case "wallet_entry" -> "user_id = USER AND seq IN (2, 20)";
          default -> "charge_id = CHARGE";
        };
    String sql = "UPDATE " + table + " SET " + to + " WHERE " + from + " AND " + own;
    String filled = sql.replace("= CHARGE", "= " + charge).replace("USER", "" + user);
    assertThat(EditedEntries.update(consumer, filled)).isOne();
  }

  static String state(long user) {
    return consumer.text("SELECT state FROM wallet WHERE user_id = ?", user);
  }

  /** The scheduled check, which may be running already. */
  static WalletCheckReport later(String interval) {
    WalletCheck check = consumer.bean(WalletCheck.class);
    Instant before = check.latest().orElseThrow().checkedAt();
    consumer.update("UPDATE wallet_check SET checked_at = checked_at - INTERVAL " + interval);
    return eventually()
        .until(
            () -> {
              consumer.sweep("walletSweeper");
              return check.latest().orElseThrow();
            },
            latest -> latest.checkedAt().isAfter(before));
  }

  /** The scheduled check may be running. */
  static Answer check() {
    return eventually()
        .until(
            () -> consumer.api().post("/internal/v1/wallet/check"),
            answer -> answer.status() == 200);
  }

  static Answer post(String path, String key, long cents) {
    return consumer
        .api()
        .with("Idempotency-Key", key)
        .post(path, "{\"amountCents\":" + cents + ",\"reason\":\"by hand\"}");
  }

  static Wallets secondProcess() {
    return new Wallets(
        consumer.bean(HikariDataSource.class),
        consumer.bean(ConnectionShare.class),
        consumer.bean(MeterRegistry.class));
  }

  static void recharge(long user, long cents) {
    recharge(user, cents, "recharge-0");
  }

  static void recharge(long user, long cents, String key) {
    assertThat(wallets.execute(of(user, WalletKind.RECHARGE, key, cents, null)).code())
        .isEqualTo(WalletCode.DONE);
  }

  WalletOutcome charge(long cents) {
    return wallets.execute(of(user, WalletKind.CHARGE, "charge-" + cents, cents, charge));
  }

  WalletOutcome refund(String key, long cents) {
    return wallets.execute(of(user, WalletKind.REFUND, key, cents, charge));
  }

  static WalletOperation of(
      long user, WalletKind kind, String key, long cents, @Nullable Long charge) {
    return new WalletOperation(user, kind, key, cents, charge, null);
  }

  static long balance(long user) {
    return consumer
        .sql()
        .sql("SELECT balance_cents FROM wallet WHERE user_id = ?")
        .param(user)
        .query(Long.class)
        .optional()
        .orElse(0L);
  }

  static List<WalletCode> codes(Collection<WalletOutcome> outcomes) {
    return outcomes.stream().map(WalletOutcome::code).toList();
  }
}
