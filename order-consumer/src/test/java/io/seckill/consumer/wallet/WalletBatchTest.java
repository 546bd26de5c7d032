package io.seckill.consumer.wallet;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.wallet.WalletBatch.Booked;
import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import io.seckill.consumer.wallet.WalletBatch.EntryKey;
import io.seckill.consumer.wallet.WalletBatch.WalletRow;
import io.seckill.support.contract.WalletBalance;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class WalletBatchTest {

  private static final long USER = 7;

  private final Map<Long, WalletRow> wallets = new HashMap<>();
  private final Map<EntryKey, Booked> entries = new HashMap<>();
  private final Map<Long, ChargeRow> charges = new HashMap<>();

  /** Charge 1 of 60 has 40 left, charge 2 is closed, charge 3 is of another user. */
  @ParameterizedTest
  @CsvSource({
    // kind, amount, charge, balance, state, outcome
    "RECHARGE, 5,, 0, ACTIVE, DONE",
    "RECHARGE, 5,, 0, FROZEN, DONE",
    "RECHARGE, 1,, 99999999999999999, ACTIVE, DONE",
    "RECHARGE, 2,, 99999999999999999, ACTIVE, BALANCE_LIMIT",
    "CHARGE, 5, 9, 5, ACTIVE, DONE",
    "CHARGE, 6, 9, 5, ACTIVE, INSUFFICIENT_FUNDS",
    "CHARGE, 5, 9, 5, FROZEN, WALLET_FROZEN",
    "CHARGE, 6, 9, 5, FROZEN, WALLET_FROZEN",
    "CHARGE, 5, 2, 0, FROZEN, CHARGE_CLOSED",
    "CHARGE, 60, 1, 100, ACTIVE, IDEMPOTENCY_KEY_REUSED", // under another key
    "CHARGE, 60, 3, 100, ACTIVE, IDEMPOTENCY_KEY_REUSED",
    "REFUND, 40, 1, 0, ACTIVE, DONE",
    "REFUND, 40, 1, 0, FROZEN, DONE",
    "REFUND, 41, 1, 0, ACTIVE, REFUND_EXCEEDS_CHARGE",
    "REFUND, 1, 2, 0, ACTIVE, CHARGE_CLOSED",
    "REFUND, 1, 3, 0, ACTIVE, UNKNOWN_CHARGE",
    "REFUND, 1, 9, 0, ACTIVE, UNKNOWN_CHARGE",
    "REFUND, 2, 1, 99999999999999999, ACTIVE, BALANCE_LIMIT",
    "ADJUST, 5,, 0, FROZEN, DONE",
    "ADJUST, -5,, 5, FROZEN, DONE",
    "ADJUST, -6,, 5, ACTIVE, INSUFFICIENT_FUNDS",
    "ADJUST, 2,, 99999999999999999, ACTIVE, BALANCE_LIMIT",
  })
  void decidesByBalanceStateAndCharge(
      WalletKind kind,
      long amount,
      @Nullable Long charge,
      long balance,
      WalletState state,
      WalletCode expected) {
    wallets.put(USER, new WalletRow(USER, balance, 4, state));
    charges.put(1L, new ChargeRow(1, USER, 60, 20, false));
    charges.put(2L, new ChargeRow(2, USER, 60, 20, true));
    charges.put(3L, new ChargeRow(3, 8, 60, 0, false));

    WalletBatch batch =
        decide(new WalletOperation(USER, kind, "request-01", amount, charge, "why"));

    WalletOutcome outcome = batch.outcomes().get(0);
    assertThat(outcome.code()).isEqualTo(expected);
    if (expected == WalletCode.DONE) {
      long after = balance + (kind == WalletKind.CHARGE ? -amount : amount);
      assertThat(outcome).isEqualTo(new WalletOutcome(WalletCode.DONE, 5L, after));
      assertThat(batch.changedWallets()).containsExactly(new WalletRow(USER, after, 5, state));
      assertThat(batch.newEntries())
          .singleElement()
          .extracting(Booked::balanceAfter)
          .isEqualTo(after);
    } else {
      assertNothingToWrite(batch);
    }
  }

  @Test
  void laterOperationsSeeWhatEarlierOnesDo() {
    wallets.put(USER, WalletRow.none(USER));

    WalletBatch batch =
        decide(
            charge("charge-01", 9, 5),
            of(WalletKind.RECHARGE, "recharge-1", 10, null),
            charge("charge-01", 9, 5),
            of(WalletKind.REFUND, "refund-01", 3, 9L),
            of(WalletKind.REFUND, "refund-02", 3, 9L),
            of(WalletKind.REFUND, "refund-03", 2, 9L),
            charge("charge-02", 10, 11),
            charge("charge-03", 10, 10));

    assertThat(batch.outcomes())
        .extracting(WalletOutcome::code)
        .containsExactly(
            WalletCode.INSUFFICIENT_FUNDS,
            WalletCode.DONE,
            WalletCode.DONE,
            WalletCode.DONE,
            WalletCode.REFUND_EXCEEDS_CHARGE,
            WalletCode.DONE,
            WalletCode.INSUFFICIENT_FUNDS,
            WalletCode.DONE);
    assertThat(batch.newEntries())
        .extracting(Booked::balanceAfter)
        .containsExactly(10L, 5L, 8L, 10L, 0L);
    assertThat(batch.changedWallets())
        .containsExactly(new WalletRow(USER, 0, 5, WalletState.ACTIVE));
    assertThat(batch.changedCharges())
        .containsExactly(
            new ChargeRow(9, USER, 5, 5, false), new ChargeRow(10, USER, 10, 0, false));
  }

  @Test
  void aKeyIsDoneOnceInABatchAndByUser() {
    wallets.put(USER, WalletRow.none(USER));
    wallets.put(8L, WalletRow.none(8));

    WalletBatch batch =
        decide(
            of(WalletKind.RECHARGE, "request-01", 10, null),
            of(WalletKind.RECHARGE, "request-01", 10, null),
            of(WalletKind.RECHARGE, "request-01", 11, null),
            new WalletOperation(8, WalletKind.RECHARGE, "request-01", 11, null, null));

    assertThat(batch.outcomes())
        .containsExactly(
            new WalletOutcome(WalletCode.DONE, 1L, 10L),
            new WalletOutcome(WalletCode.REPEATED, 1L, 10L),
            WalletOutcome.of(WalletCode.IDEMPOTENCY_KEY_REUSED),
            new WalletOutcome(WalletCode.DONE, 1L, 11L));
  }

  /** A repeat is answered before any refusal; the reason is no part of it. */
  @ParameterizedTest
  @CsvSource({
    "CHARGE, 5, 9, REPEATED",
    "CHARGE, 6, 9, IDEMPOTENCY_KEY_REUSED",
    "CHARGE, 5, 8, IDEMPOTENCY_KEY_REUSED",
    "REFUND, 5, 9, IDEMPOTENCY_KEY_REUSED",
    "ADJUST, -5,, IDEMPOTENCY_KEY_REUSED",
  })
  void comparesARepeatWithItsEntry(
      WalletKind kind, long amount, @Nullable Long charge, WalletCode expected) {
    wallets.put(USER, new WalletRow(USER, 0, 4, WalletState.FROZEN));
    EntryKey key = new EntryKey(USER, "request-01");
    entries.put(key, new Booked(key, 3, WalletKind.CHARGE, -5, 0, 9L, null));
    charges.put(9L, new ChargeRow(9, USER, 5, 5, true));

    WalletBatch batch = decide(new WalletOperation(USER, kind, "request-01", amount, charge, "x"));

    assertThat(batch.outcomes().get(0).code()).isEqualTo(expected);
    assertNothingToWrite(batch);
  }

  @ParameterizedTest
  @EnumSource
  void aUserWithoutAWalletHasNothing(WalletKind kind) {
    WalletBatch batch =
        decide(
            new WalletOperation(
                USER,
                kind,
                "request-01",
                kind == WalletKind.ADJUST ? -1 : 1,
                kind == WalletKind.CHARGE || kind == WalletKind.REFUND ? 9L : null,
                null));

    assertThat(batch.outcomes().get(0).code())
        .isEqualTo(
            switch (kind) {
              case RECHARGE -> WalletCode.DONE;
              case REFUND -> WalletCode.UNKNOWN_CHARGE;
              case CHARGE, ADJUST -> WalletCode.INSUFFICIENT_FUNDS;
            });
  }

  @Test
  void aClosedChargeIsNeverMadeAndAChargeIsClosedWithItsRest() {
    charges.put(1L, new ChargeRow(1, USER, 60, 20, false));
    WalletBatch batch = new WalletBatch(wallets, Set.of(), entries, charges);

    batch.close(1);
    batch.close(9);

    assertThat(batch.changedCharges())
        .containsExactly(new ChargeRow(1, USER, 60, 20, true), new ChargeRow(9, 0, 0, 0, true));
    assertThat(batch.decide(List.of(charge("charge-01", 9, 1))).outcomes())
        .containsExactly(WalletOutcome.of(WalletCode.CHARGE_CLOSED));
  }

  /** The charge is of 60. */
  @ParameterizedTest
  @CsvSource({"20, false, true", "60, false, false", "20, true, false"})
  void aChargeIsInForceUntilItIsRefundedOrClosed(long refunded, boolean closed, boolean expected) {
    assertThat(new ChargeRow(1, USER, 60, refunded, closed).isInForce()).isEqualTo(expected);
  }

  /** However a series is cut into batches, it has the same outcomes and books. */
  @ParameterizedTest
  @CsvSource({"1", "2", "3", "4"})
  void batchesOfAnySizeBookTheSame(long seed) {
    List<WalletOperation> series = series(new Random(seed));
    List<WalletOutcome> alone = series.stream().map(each -> run(List.of(each)).get(0)).toList();
    Map<Long, WalletRow> walletsAlone = Map.copyOf(wallets);
    Map<EntryKey, Booked> entriesAlone = Map.copyOf(entries);
    wallets.clear();
    entries.clear();
    charges.clear();

    assertThat(run(series)).isEqualTo(alone);
    assertThat(wallets).isEqualTo(walletsAlone);
    assertThat(entries).isEqualTo(entriesAlone);
    wallets.forEach(
        (user, wallet) ->
            assertThat(wallet.balanceCents())
                .isBetween(0L, WalletBalance.MAX_BALANCE_CENTS)
                .isEqualTo(
                    entries.values().stream()
                        .filter(entry -> entry.key().userId() == user)
                        .mapToLong(Booked::signedCents)
                        .sum()));
  }

  private List<WalletOutcome> run(List<WalletOperation> operations) {
    WalletBatch batch = new WalletBatch(wallets, Set.of(), entries, charges).decide(operations);
    batch.changedWallets().forEach(wallet -> wallets.put(wallet.userId(), wallet));
    batch.newEntries().forEach(entry -> entries.put(entry.key(), entry));
    batch.changedCharges().forEach(charge -> charges.put(charge.chargeId(), charge));
    return batch.outcomes();
  }

  private static List<WalletOperation> series(Random random) {
    return IntStream.range(0, 2_000)
        .mapToObj(
            i -> {
              WalletKind kind = List.of(WalletKind.values()).get(random.nextInt(4));
              boolean hasCharge = kind == WalletKind.CHARGE || kind == WalletKind.REFUND;
              return new WalletOperation(
                  1 + random.nextInt(3),
                  kind,
                  "request-" + random.nextInt(1_000),
                  kind == WalletKind.ADJUST ? -1 - random.nextInt(9) : 1 + random.nextInt(9),
                  hasCharge ? 1L + random.nextInt(100) : null,
                  null);
            })
        .toList();
  }

  private WalletBatch decide(WalletOperation... operations) {
    return new WalletBatch(wallets, Set.of(), entries, charges).decide(Arrays.asList(operations));
  }

  private static WalletOperation charge(String key, long charge, long amount) {
    return of(WalletKind.CHARGE, key, amount, charge);
  }

  private static WalletOperation of(
      WalletKind kind, String key, long amount, @Nullable Long charge) {
    return new WalletOperation(USER, kind, key, amount, charge, null);
  }

  private static void assertNothingToWrite(WalletBatch batch) {
    assertThat(batch.newEntries()).isEmpty();
    assertThat(batch.changedWallets()).isEmpty();
    assertThat(batch.changedCharges()).isEmpty();
  }
}
