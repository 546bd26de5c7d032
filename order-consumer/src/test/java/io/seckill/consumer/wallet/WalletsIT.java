package io.seckill.consumer.wallet;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.PacketLimit;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.wallet.WalletBatch.WalletRow;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.transaction.support.TransactionOperations;

/** Operations on wallets, decided by a real MySQL. */
@ExtendWith(TestServers.class)
class WalletsIT extends WalletBooks {

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
}
