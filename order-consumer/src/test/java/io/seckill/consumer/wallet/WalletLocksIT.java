package io.seckill.consumer.wallet;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Races;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Clients that use the same wallets at the same time. */
@ExtendWith(TestServers.class)
class WalletLocksIT extends WalletBooks {

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
}
