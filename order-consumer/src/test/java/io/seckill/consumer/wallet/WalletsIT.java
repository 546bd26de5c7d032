package io.seckill.consumer.wallet;

import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.IntStream.rangeClosed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.runtime.CallerBatcher;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.Snapshots;
import io.seckill.consumer.testing.EditedEntries;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.PacketLimit;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.consumer.wallet.WalletBatch.WalletRow;
import io.seckill.consumer.wallet.WalletCheck.WalletCheckReport;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.support.TransactionOperations;

/** Operations on wallets, decided by a real MySQL. */
@ExtendWith(TestServers.class)
class WalletsIT {

  private static final AtomicLong NEXT = new AtomicLong(3_100_000);

  private static final TestConsumer consumer = TestConsumer.shared();
  private static final Wallets wallets = consumer.bean(Wallets.class);

  private final long user = NEXT.incrementAndGet();
  private final long charge = NEXT.incrementAndGet();

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

  @Test
  void manyClientsEmptyOneWalletExactly() {
    recharge(user, 150);
    Wallets secondProcess = secondProcess();
    double conflicts = conflicts();
    Collection<WalletOutcome> seen = new ConcurrentLinkedQueue<>();

    Races.race(
        IntStream.range(0, 64)
            .<Runnable>mapToObj(
                client ->
                    () ->
                        seen.addAll(
                            until(
                                () ->
                                    (client % 2 == 0 ? wallets : secondProcess)
                                        .execute(
                                            IntStream.range(0, 5)
                                                .mapToObj(i -> chargeOf(client * 5 + i))
                                                .toList()))))
            .toList());

    assertThat(seen).hasSize(320);
    assertThat(codes(seen)).containsOnly(WalletCode.DONE, WalletCode.INSUFFICIENT_FUNDS);
    assertThat(codes(seen)).filteredOn(code -> code == WalletCode.DONE).hasSize(150);
    assertThat(balance(user)).isZero();
    assertThat(conflicts()).as("balances that changed after they were read").isEqualTo(conflicts);
  }

  /** Both wait for a second already, at most three: one that read without a lock has read. */
  @Test
  void twoProcessesReadABalanceUnderItsLock() {
    recharge(user, 1);
    double conflicts = conflicts();
    List<CompletableFuture<List<WalletOutcome>>> waiting = new ArrayList<>();
    try (RowLock lock =
        consumer.lock("SELECT * FROM wallet WHERE user_id = " + user + " FOR UPDATE")) {
      for (Wallets process : List.of(wallets, secondProcess())) {
        List<WalletOperation> one = List.of(chargeOf(waiting.size()));
        waiting.add(CompletableFuture.supplyAsync(() -> until(() -> process.execute(one))));
      }
      eventually()
          .until(
              () ->
                  consumer.number(
                          "SELECT COUNT(*) FROM information_schema.processlist"
                              + " WHERE time >= 1 AND info LIKE '%"
                              + user
                              + "%'")
                      == 2);
      lock.release();
    }

    assertThat(waiting.stream().flatMap(each -> codes(Bounded.get(each)).stream()))
        .containsExactlyInAnyOrder(WalletCode.DONE, WalletCode.INSUFFICIENT_FUNDS);
    assertThat(conflicts()).as("balances that changed after they were read").isEqualTo(conflicts);
  }

  /** As payments and cancels do: the other half of the pool is for operators. */
  @Test
  void anOperationThatWaitsForItsWalletHasAConnectionOfThoseForWaits() throws Exception {
    recharge(user, 1);
    AtomicInteger transactions = new AtomicInteger();
    DataSource counted =
        new DelegatingDataSource(consumer.bean(DataSource.class)) {
          @Override
          public Connection getConnection() throws SQLException {
            transactions.incrementAndGet();
            return super.getConnection();
          }
        };
    ConnectionShare waits = new ConnectionShare(1);
    Wallets process = new Wallets(counted, waits, new SimpleMeterRegistry());
    List<WalletOperation> one = List.of(chargeOf(0));
    try (RowLock lock =
        consumer.lock("SELECT * FROM wallet WHERE user_id = " + user + " FOR UPDATE")) {
      assertThat(codes(waits.within(() -> process.execute(one)))).containsOnly(WalletCode.BUSY);
      assertThat(transactions).as("but none that would wait for the lock").hasValue(1);
      lock.release();
    }
    assertThat(codes(process.execute(one))).containsOnly(WalletCode.DONE);
  }

  private static double conflicts() {
    return consumer.counter("seckill.consumer.wallet.conflicts");
  }

  private WalletOperation chargeOf(int number) {
    return new WalletOperation(
        user, WalletKind.CHARGE, "client-" + number + "-of", 1, 1_000 * user + number, null);
  }

  /** BUSY has done nothing. */
  private static List<WalletOutcome> until(Supplier<List<WalletOutcome>> call) {
    List<WalletOutcome> outcomes = call.get();
    while (codes(outcomes).contains(WalletCode.BUSY)) {
      outcomes = call.get();
    }
    return outcomes;
  }

  /** Two processes and several batches each. */
  @Test
  void oneKeyIsOneEntry() {
    List<Wallets> processes = List.of(wallets, secondProcess());
    Collection<WalletOutcome> seen = new ConcurrentLinkedQueue<>();

    Races.race(
        IntStream.range(0, 16)
            .<Runnable>mapToObj(
                client ->
                    () ->
                        seen.addAll(
                            until(
                                () ->
                                    processes
                                        .get(client % 2)
                                        .execute(List.of(rechargeOf(5), rechargeOf(5))))))
            .toList());

    assertThat(codes(seen)).containsOnlyOnce(WalletCode.DONE).hasSize(32);
    assertThat(seen).filteredOn(one -> one.code() == WalletCode.REPEATED).hasSize(31);
    assertThat(seen).extracting(WalletOutcome::seq).containsOnly(1L);
    assertThat(balance(user)).isEqualTo(5);
    assertThat(wallets.execute(rechargeOf(6)).code()).isEqualTo(WalletCode.IDEMPOTENCY_KEY_REUSED);
    long other = NEXT.incrementAndGet();
    assertThat(wallets.execute(of(other, WalletKind.RECHARGE, "request-01", 6, null)).code())
        .isEqualTo(WalletCode.DONE);
  }

  private WalletOperation rechargeOf(long cents) {
    return of(user, WalletKind.RECHARGE, "request-01", cents, null);
  }

  @Test
  void aChargeIsRefundedOnce() {
    recharge(user, 100);
    charge(100);
    Collection<WalletOutcome> seen = new ConcurrentLinkedQueue<>();

    Races.race(
        IntStream.range(0, 10)
            .<Runnable>mapToObj(client -> () -> seen.add(refund("refund-0" + client, 60)))
            .toList());

    assertThat(codes(seen)).containsOnlyOnce(WalletCode.DONE).hasSize(10);
    assertThat(codes(seen)).containsOnly(WalletCode.DONE, WalletCode.REFUND_EXCEEDS_CHARGE);
    assertThat(refund("refund-10", 39).code()).isEqualTo(WalletCode.DONE);
    assertThat(refund("refund-11", 2).code()).isEqualTo(WalletCode.REFUND_EXCEEDS_CHARGE);
    assertThat(refund("refund-12", 1).code()).isEqualTo(WalletCode.DONE);
    assertThat(balance(user)).isEqualTo(100);
  }

  @Test
  void rechargeChargeAndRefundInOneCallOfManyUsers() {
    List<WalletOperation> operations =
        LongStream.range(0, 170)
            .map(i -> 10_000 * user + i)
            .boxed()
            .flatMap(
                each ->
                    List.of(
                        of(each, WalletKind.RECHARGE, "request-01", 10, null),
                        of(each, WalletKind.CHARGE, "request-02", 10, each),
                        of(each, WalletKind.REFUND, "request-03", 4, each))
                        .stream())
            .toList();

    List<WalletOutcome> outcomes = wallets.execute(operations);

    assertThat(codes(outcomes)).containsOnly(WalletCode.DONE).hasSize(510);
    assertThat(outcomes.subList(507, 510))
        .extracting(WalletOutcome::balanceAfterCents)
        .containsExactly(10L, 0L, 4L);
    assertThat(codes(wallets.execute(operations))).containsOnly(WalletCode.REPEATED);
  }

  @Test
  void decidesABatchThatIsLargerThanMySqlAccepts() throws Exception {
    List<WalletOperation> operations =
        IntStream.range(0, 400)
            .mapToObj(i -> of(user, WalletKind.RECHARGE, "request-" + (1_000 + i), 1, null))
            .toList();

    assertThat(codes(PacketLimit.during(consumer, 16_384, () -> wallets.execute(operations))))
        .containsOnly(WalletCode.DONE);
    assertThat(balance(user)).isEqualTo(400);
  }

  @Test
  void aLockedWalletMakesOnlyItsOwnUserBusy() throws Exception {
    long other = 40_000 * user + user % 4; // of the same batcher
    recharge(user, 10);
    try (RowLock lock =
        consumer.lock("SELECT * FROM wallet WHERE user_id = " + user + " FOR UPDATE")) {
      List<WalletOperation> operations =
          List.of(
              of(other, WalletKind.RECHARGE, "recharge-1", 5, null),
              of(user, WalletKind.RECHARGE, "recharge-1", 5, null),
              of(other, WalletKind.CHARGE, "charge-001", 5, charge),
              of(user, WalletKind.CHARGE, "charge-001", 15, user));
      assertThat(codes(wallets.execute(operations)))
          .containsExactly(WalletCode.DONE, WalletCode.BUSY, WalletCode.DONE, WalletCode.BUSY);

      CompletableFuture<WalletOutcome> waiting =
          CompletableFuture.supplyAsync(() -> unlessBusy(() -> refund(user, user)));
      eventually()
          .until(
              () -> consumer.executing("SELECT%FROM wallet %" + user + ") FOR UPDATE"),
              Optional::isPresent);
      assertThat(refund(other, charge).code()).isEqualTo(WalletCode.DONE);
      assertThat(waiting).as("waits longer than another user's").isNotDone();
      lock.release();
      assertThat(Bounded.get(waiting).code()).isEqualTo(WalletCode.UNKNOWN_CHARGE);
    }
    assertThat(balance(user)).isEqualTo(10);
  }

  /** Its first entry has no lock to look at; another transaction has made it, and not committed. */
  @Test
  void aWalletThatIsBeingMadeMakesOnlyItsOwnUserBusy() throws Exception {
    long other = 40_000 * user + user % 4; // of the same batcher
    recharge(other, 4);
    try (RowLock lock =
        consumer.lock(
            "INSERT INTO wallet_entry (user_id, seq, kind, amount_cents, balance_after, request_id)"
                + " VALUES (%d, 1, 'RECHARGE', 9, 9, 'recharge-9')".formatted(user))) {
      CompletableFuture<List<WalletOutcome>> both =
          CompletableFuture.supplyAsync(
              () ->
                  until(
                      () ->
                          wallets.execute(
                              List.of(
                                  of(user, WalletKind.RECHARGE, "recharge-1", 5, null),
                                  of(other, WalletKind.RECHARGE, "recharge-2", 5, null)))));
      eventually()
          .until(
              () -> consumer.executing("INSERT INTO wallet_entry%'recharge-1',NULL,NULL)"),
              Optional::isPresent);
      assertThat(balance(other)).as("while its neighbour waits alone").isEqualTo(9);
      lock.release();
      List<WalletCode> codes = codes(Bounded.get(both));
      assertThat(codes.get(0)).isEqualTo(WalletCode.DONE);
      assertThat(codes.get(1)).isIn(WalletCode.DONE, WalletCode.REPEATED); // with a busy neighbour
    }
    assertThat(balance(user)).isEqualTo(5);
  }

  /** Repeats an operation whose lock was not free in time. */
  private static WalletOutcome unlessBusy(Callable<WalletOutcome> operation) {
    return eventually().until(operation, one -> one.code() != WalletCode.BUSY);
  }

  private static WalletOutcome refund(long user, long charge) {
    return wallets.execute(of(user, WalletKind.REFUND, "refund-001", 5, charge));
  }

  /** The other transaction is the larger one, so MySQL undoes the operation. */
  @Test
  void anOperationThatADeadlockUndoesIsExecutedAgain() throws Exception {
    recharge(user, 10);
    String rows =
        LongStream.range(charge, charge + 100)
            .mapToObj(id -> "(" + id + ", 1, 1, 0, FALSE)")
            .collect(Collectors.joining(","));
    try (RowLock lock =
        consumer.lock(
            "INSERT INTO wallet_charge (charge_id, user_id, amount_cents, refunded_cents, closed)"
                + " VALUES "
                + rows)) {
      CompletableFuture<WalletOutcome> waiting =
          CompletableFuture.supplyAsync(() -> unlessBusy(() -> charge(5)));
      eventually()
          .until(
              () -> consumer.executing("INSERT INTO wallet_charge%(" + charge + ",%"),
              Optional::isPresent);
      lock.execute("SELECT * FROM wallet WHERE user_id = " + user + " FOR UPDATE");
      lock.release();
      assertThat(Bounded.get(waiting)).isEqualTo(new WalletOutcome(WalletCode.DONE, 2L, 5L));
    }
  }

  /** The charge is of another transaction than the recharge, and would be refused as too poor. */
  @Test
  void whatFollowsABusyOperationOfItsUserIsBusyToo() {
    long other = 40_000 * user + user % 4; // of the same batcher
    consumer.update(
        "INSERT INTO wallet_entry (user_id, seq, kind, amount_cents, balance_after, request_id)"
            + " VALUES (?, 1, 'RECHARGE', 5, 5, 'recharge-0')", // its wallet is lost
        user);
    List<WalletOperation> operations = new ArrayList<>();
    for (int i = 0; i < 511; i++) {
      operations.add(of(other, WalletKind.RECHARGE, "request-" + (1_000 + i), 1, null));
    }
    operations.add(of(user, WalletKind.RECHARGE, "recharge-1", 5, null));
    operations.add(of(user, WalletKind.CHARGE, "charge-001", 5, user));
    List<WalletCode> codes = codes(wallets.execute(operations));
    consumer.update(
        "INSERT INTO wallet (user_id, balance_cents, seq, state) VALUES (?, 5, 1, 'ACTIVE')", user);

    assertThat(codes.subList(0, 511)).containsOnly(WalletCode.DONE);
    assertThat(codes.subList(511, 513)).containsOnly(WalletCode.BUSY);
    assertThat(codes(wallets.execute(operations.subList(511, 513)))).containsOnly(WalletCode.DONE);
  }

  @Test
  void isUnknownWhenMySqlFailsAndARepeatFindsOut() throws Exception {
    recharge(user, 10);
    try (RowLock lock =
        consumer.lock("SELECT * FROM wallet WHERE user_id = " + user + " FOR UPDATE")) {
      AtomicInteger attempts = new AtomicInteger();
      CompletableFuture<WalletOutcome> waiting =
          CompletableFuture.supplyAsync(
              () ->
                  unlessBusy(
                      () -> {
                        attempts.incrementAndGet();
                        return charge(5);
                      }));
      Set<Integer> killed = new HashSet<>();
      eventually()
          .ignoreExceptionsInstanceOf(DataAccessException.class) // it may have ended before
          .until(
              () -> {
                consumer
                    .executing("%FROM wallet FORCE%" + user + "%FOR UPDATE")
                    .filter(connection -> killed.add(attempts.get())) // each attempt once
                    .ifPresent(connection -> consumer.update("KILL " + connection));
                return waiting.isDone();
              });
      assertThat(Bounded.get(waiting)).isEqualTo(WalletOutcome.of(WalletCode.WALLET_UNAVAILABLE));
      lock.release();
    }

    assertThat(charge(5)).isEqualTo(new WalletOutcome(WalletCode.DONE, 2L, 5L));
    assertThat(charge(5)).isEqualTo(new WalletOutcome(WalletCode.REPEATED, 2L, 5L));
  }

  @Test
  void operatorsRechargeAdjustFreezeAndRefund() {
    String path = "/internal/v1/wallets/" + user;
    assertAnswer(201, 500, post(path + "/recharges", "recharge-1", 500));
    assertAnswer(200, 500, post(path + "/recharges", "recharge-1", 500));
    assertThat(post(path + "/recharges", "recharge-1", 501).code())
        .isEqualTo("IDEMPOTENCY_KEY_REUSED");
    assertThat(post(path + "/recharges", "order:4711", 5).field())
        .as("the key of an order's charge")
        .isEqualTo("Idempotency-Key");
    assertAnswer(201, 450, post(path + "/adjustments", "adjust-01", -50));
    assertThat(post(path + "/adjustments", "adjust-02", -451).code())
        .isEqualTo("INSUFFICIENT_FUNDS");

    assertThat(consumer.api().put(path + "/state", "{\"state\":\"FROZEN\"}").text("state"))
        .isEqualTo("FROZEN");
    assertThat(charge(5).code()).isEqualTo(WalletCode.WALLET_FROZEN);
    consumer.api().put(path + "/state", "{\"state\":\"ACTIVE\"}");
    assertThat(charge(50).code()).isEqualTo(WalletCode.DONE);

    String refunds = "/internal/v1/wallet/charges/" + charge + "/refunds";
    assertAnswer(201, 430, post(refunds, "refund-01", 30));
    assertAnswer(200, 430, post(refunds, "refund-01", 30));
    assertThat(post(refunds, "refund-02", 21).code()).isEqualTo("REFUND_EXCEEDS_CHARGE");
    assertThat(post("/internal/v1/wallet/charges/1/refunds", "refund-01", 1).code())
        .isEqualTo("UNKNOWN_CHARGE");

    Answer shown = consumer.api().get(path);
    assertThat(shown.number("balanceCents")).isEqualTo(430);
    assertThat(shown.number("seq")).isEqualTo(4);
    assertThat(shown.text("currency")).isEqualTo("USD");
    Answer page = consumer.api().get(path + "/entries?limit=3");
    assertThat(page.body().path("entries")).hasSize(3);
    assertThat(page.number("next")).isEqualTo(2);
    Answer first = consumer.api().get(path + "/entries?before=2&limit=1");
    assertThat(first.body().path("entries")).hasSize(1);
    assertThat(first.body().path("next").isNull()).as("after the last page").isTrue();
    String statement = path + "/statement?to=2099-01-01&from=";
    Answer years = consumer.api().get(statement + "2026-01-01&after=1");
    assertThat(years.body().path("entries").path(0).path("seq")).hasToString("2");
    String lastDay = years.body().at("/entries/2/createdAt").stringValue().substring(0, 10);
    assertThat(
            consumer
                .api()
                .get(path + "/statement?from=2026-01-01&after=1&to=" + lastDay)
                .body()
                .path("entries"))
        .as("the last day is included")
        .hasSize(3);
    Answer later = consumer.api().get(statement + "2098-01-01");
    assertThat(later.number("openingCents")).isEqualTo(430);
    assertThat(later.body().path("entries")).isEmpty();
  }

  @Test
  void aLongStatementHasPages() {
    wallets.execute(
        rangeClosed(1, 501)
            .mapToObj(n -> of(user, WalletKind.RECHARGE, "recharge-" + n, 1, null))
            .toList());
    String statement = "/internal/v1/wallets/" + user + "/statement?from=2026-01-01&to=2099-01-01";

    Answer first = consumer.api().get(statement);
    Answer last = consumer.api().get(statement + "&after=500");

    assertThat(first.body().path("entries")).hasSize(500);
    assertThat(first.number("next")).isEqualTo(500);
    assertThat(last.body().path("entries")).hasSize(1);
    assertThat(last.body().path("next").isNull()).as("after the last page").isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "entries?limit=201, limit",
    "entries?before=0, before",
    "statement?to=2026-01-01, from",
    "statement?from=2026-01-01, to",
    "statement?from=2026-13-01&to=2026-02-01, from",
    "statement?from=2026-02-01&to=2026-01-31, to",
    "statement?from=2026-01-01&to=2026-02-01&after=-1, after",
  })
  void refusesInvalidPages(String page, String field) {
    Answer refused = consumer.api().get("/internal/v1/wallets/" + user + "/" + page);

    assertThat(refused.code()).isEqualTo("INVALID_REQUEST");
    assertThat(refused.field()).isEqualTo(field);
  }

  @Test
  void servicesPostOperationsAndInvalidOnesChangeNothing() {
    String good = operation("request-01", "5");

    assertThat(operations(good + "," + operation("request-02", "1.5")).field())
        .isEqualTo("amountCents");
    assertThat(balance(user)).isZero();
    assertThat(operations(good + "," + good).text())
        .isEqualTo(
            "{\"outcomes\":[{\"code\":\"DONE\",\"seq\":1,\"balanceAfterCents\":5},"
                + "{\"code\":\"REPEATED\",\"seq\":1,\"balanceAfterCents\":5}]}");
  }

  /** A number that its next entry cannot have refuses every batch of that wallet. */
  @Test
  void aWalletEditedByHandStopsNoneOfTheSameBatch() {
    long others = 40_000 * user + user % 4; // of the same batcher
    recharge(user, 10);
    recharge(user, 10, "recharge-1");
    edit("wallet", "seq = 1", "seq = 2");
    List<WalletCode> codes =
        codes(
            wallets.execute(
                List.of(
                    of(others, WalletKind.RECHARGE, "request-01", 5, null),
                    of(user, WalletKind.RECHARGE, "request-01", 5, null),
                    of(others, WalletKind.CHARGE, "request-02", 5, charge))));
    edit("wallet", "seq = 2", "seq = 1");

    assertThat(codes).containsExactly(WalletCode.DONE, WalletCode.BUSY, WalletCode.DONE);
    assertThat(wallets.execute(rechargeOf(5)).code()).isEqualTo(WalletCode.DONE);
  }

  /** The next entry would book it, and then nothing shows what the balance was. */
  @Test
  void aBalanceEditedByHandComesIntoNoEntry() {
    long others = 40_000 * user + user % 4; // of the same batcher
    recharge(user, 100);
    charge(60);
    edit("wallet", "balance_cents = 41", "balance_cents = 40");
    List<WalletCode> codes =
        codes(
            wallets.execute(
                List.of(
                    of(others, WalletKind.RECHARGE, "request-01", 5, null),
                    of(user, WalletKind.RECHARGE, "request-01", 5, null),
                    of(user, WalletKind.RECHARGE, "recharge-0", 100, null),
                    of(others, WalletKind.CHARGE, "request-02", 5, others))));
    WalletCode closed = wallets.close(charge, "refund-01");
    edit("wallet", "balance_cents = 40", "balance_cents = 41");

    assertThat(codes)
        .containsExactly(WalletCode.DONE, WalletCode.BUSY, WalletCode.REPEATED, WalletCode.DONE);
    assertThat(closed).isEqualTo(WalletCode.BUSY);
    assertThat(wallets.close(charge, "refund-01")).isEqualTo(WalletCode.DONE);
    assertThat(wallets.execute(rechargeOf(5)).balanceAfterCents()).isEqualTo(105);
  }

  /** It would store the balance that was read, and no entry explains that. */
  @Test
  void theUpdateOfAWalletWhoseRowIsGoneIsUndone() {
    WalletRow read = new WalletRow(user, 100, 1, WalletState.ACTIVE);
    WalletBatch batch =
        new WalletBatch(Map.of(user, read), Set.of(), Map.of(), Map.of())
            .decide(List.of(rechargeOf(5)));

    assertThatThrownBy(
            () ->
                consumer
                    .bean(TransactionOperations.class)
                    .executeWithoutResult(
                        tx -> WalletTable.write(consumer.bean(JdbcOperations.class), batch)))
        .hasMessage("1 rows counted in place of 2");
    assertThat(consumer.number("SELECT COUNT(*) FROM wallet_entry WHERE user_id = ?", user))
        .isZero();
    assertThat(balance(user)).isZero();
  }

  /** Nobody has a row to lock: the first entry of a wallet decides who comes first. */
  @Test
  void twoProcessesMakeTheSameWallets() {
    List<Wallets> processes = List.of(wallets, secondProcess());
    List<Long> users = LongStream.range(0, 40).mapToObj(i -> 4 * (10_000 * user + i)).toList();
    Collection<WalletOutcome> seen = new ConcurrentLinkedQueue<>();

    Races.race(
        IntStream.range(0, 8)
            .<Runnable>mapToObj(
                client ->
                    () -> {
                      List<WalletOperation> operations =
                          new ArrayList<>(
                              users.stream()
                                  .map(
                                      each ->
                                          of(
                                              each,
                                              WalletKind.RECHARGE,
                                              "client-0" + client,
                                              5,
                                              null))
                                  .toList());
                      Collections.shuffle(operations, new Random(client));
                      seen.addAll(until(() -> processes.get(client % 2).execute(operations)));
                    })
            .toList());

    assertThat(codes(seen)).hasSize(320).isSubsetOf(WalletCode.DONE, WalletCode.REPEATED);
    assertThat(users).allMatch(each -> balance(each) == 40);
  }

  /** Each waits for the same COMMIT; the requests of the other kinds keep their threads. */
  @Tag("proof")
  @Test
  void serves256CallersOfOneOperationAtOnce() throws Exception {
    recharge(user, 1_000);
    Collection<Answer> seen = new ConcurrentLinkedQueue<>();
    List<Thread> callers =
        IntStream.range(0, 256)
            .mapToObj(i -> new Thread(() -> seen.add(unlessBusy(operation("request-" + i, "1")))))
            .toList();
    try (RowLock lock =
        consumer.lock("SELECT * FROM wallet WHERE user_id = " + user + " FOR UPDATE")) {
      callers.forEach(Thread::start);
      eventually().until(() -> seen.size() + waiting() >= callers.size());
      lock.release();
    }
    for (Thread caller : callers) {
      Bounded.join(caller);
    }

    assertThat(seen).hasSize(256).allMatch(answer -> answer.text().contains("\"DONE\""));
    assertThat(balance(user)).isEqualTo(1_256);
  }

  /** Repeats an operation whose lock was not free in time; not one that was refused a thread. */
  private static Answer unlessBusy(String operation) {
    Answer answer;
    do {
      answer = operations(operation);
    } while (answer.status() == 200 && answer.text().contains("BUSY"));
    return answer;
  }

  /** Threads that wait for a batch. */
  private static long waiting() {
    return Thread.getAllStackTraces().values().stream()
        .filter(
            stack ->
                Stream.of(stack)
                    .anyMatch(frame -> frame.getClassName().equals(CallerBatcher.class.getName())))
        .count();
  }

  private String operation(String key, String amount) {
    return "{\"userId\":%d,\"kind\":\"RECHARGE\",\"requestId\":\"%s\",\"amountCents\":%s}"
        .formatted(user, key, amount);
  }

  private static Answer operations(String operations) {
    return consumer
        .api()
        .post("/internal/v1/wallet/operations", "{\"operations\":[" + operations + "]}");
  }

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

  /** Of entries, the charge. */
  private void edit(String table, String to, String from) {
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
  }

  private static WalletChecker hourly() {
    return new WalletChecker(consumer.bean(JdbcOperations.class), false).run(page -> {}, () -> {});
  }

  /** Each of these has three entries and a charge. */
  @Test
  void theWholeCheckReadsManyWalletsByFewStatements() {
    int before = statements();
    rechargeChargeAndRefund(500);

    assertThat(statements()).isLessThan(before + 20);
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

  private static String state(long user) {
    return consumer.text("SELECT state FROM wallet WHERE user_id = ?", user);
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
  }

  private static long steps() {
    AtomicLong steps = new AtomicLong();
    var unused =
        new WalletChecker(consumer.bean(JdbcOperations.class), true)
            .run(page -> {}, steps::incrementAndGet);
    return steps.get();
  }

  /** The scheduled check, which may be running already. */
  private static WalletCheckReport later(String interval) {
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
  private static Answer check() {
    return eventually()
        .until(
            () -> consumer.api().post("/internal/v1/wallet/check"),
            answer -> answer.status() == 200);
  }

  @Test
  void inDemoModeANewUserStartsWithMoneyOnce() {
    String path = "/internal/v1/wallets/" + user;

    assertThat(consumer.api().get(path).number("balanceCents")).isEqualTo(10_000_000);
    assertThat(charge(10_000_000).code()).isEqualTo(WalletCode.DONE);
    assertThat(consumer.api().get(path).number("balanceCents")).isZero();
  }

  @Test
  void inDemoModeAUserWhoIsFrozenFirstHasTheMoneyToo() {
    String path = "/internal/v1/wallets/" + user;

    Answer frozen = consumer.api().put(path + "/state", "{\"state\":\"FROZEN\"}");

    assertThat(frozen.text("state")).isEqualTo("FROZEN");
    assertThat(frozen.number("balanceCents")).isEqualTo(10_000_000);
    assertThat(charge(5).code()).isEqualTo(WalletCode.WALLET_FROZEN);
  }

  private static Answer post(String path, String key, long cents) {
    return consumer
        .api()
        .with("Idempotency-Key", key)
        .post(path, "{\"amountCents\":" + cents + ",\"reason\":\"by hand\"}");
  }

  private static void assertAnswer(int status, long balance, Answer answer) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertThat(answer.number("balanceAfterCents")).isEqualTo(balance);
  }

  private static Wallets secondProcess() {
    return new Wallets(
        consumer.bean(HikariDataSource.class),
        consumer.bean(ConnectionShare.class),
        consumer.bean(MeterRegistry.class));
  }

  private static void recharge(long user, long cents) {
    recharge(user, cents, "recharge-0");
  }

  private static void recharge(long user, long cents, String key) {
    assertThat(wallets.execute(of(user, WalletKind.RECHARGE, key, cents, null)).code())
        .isEqualTo(WalletCode.DONE);
  }

  private WalletOutcome charge(long cents) {
    return wallets.execute(of(user, WalletKind.CHARGE, "charge-" + cents, cents, charge));
  }

  private WalletOutcome refund(String key, long cents) {
    return wallets.execute(of(user, WalletKind.REFUND, key, cents, charge));
  }

  private static WalletOperation of(
      long user, WalletKind kind, String key, long cents, @Nullable Long charge) {
    return new WalletOperation(user, kind, key, cents, charge, null);
  }

  private static long balance(long user) {
    return consumer
        .sql()
        .sql("SELECT balance_cents FROM wallet WHERE user_id = ?")
        .param(user)
        .query(Long.class)
        .optional()
        .orElse(0L);
  }

  private static List<WalletCode> codes(Collection<WalletOutcome> outcomes) {
    return outcomes.stream().map(WalletOutcome::code).toList();
  }
}
