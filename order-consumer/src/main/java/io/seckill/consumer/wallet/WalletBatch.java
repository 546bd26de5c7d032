package io.seckill.consumer.wallet;

import io.seckill.support.contract.WalletBalance;
import io.seckill.support.contract.WalletBalance.WalletState;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOperation;
import io.seckill.support.contract.WalletOutcome;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides operations in the order given, from rows that were read under the locks of their wallets;
 * later operations see what earlier ones do. The rows to write are the new state of all of them.
 * Not thread-safe.
 */
final class WalletBatch {

  /** A row of {@code wallet}. */
  record WalletRow(long userId, long balanceCents, long seq, WalletState state) {

    /** A user without a row. */
    static WalletRow none(long userId) {
      return new WalletRow(userId, 0, 0, WalletState.ACTIVE);
    }

    WalletRow plus(long cents) {
      return new WalletRow(userId, balanceCents + cents, seq + 1, state);
    }
  }

  /** A row of {@code wallet_charge}. */
  record ChargeRow(
      long chargeId, long userId, long amountCents, long refundedCents, boolean closed) {

    long leftCents() {
      return amountCents - refundedCents;
    }

    /** Whether some of its money is with the house. */
    boolean isInForce() {
      return !closed && leftCents() > 0;
    }

    ChargeRow refunded(long cents) {
      return new ChargeRow(chargeId, userId, amountCents, refundedCents + cents, closed);
    }
  }

  record EntryKey(long userId, String requestId) {

    static EntryKey of(WalletOperation operation) {
      return new EntryKey(operation.userId(), operation.requestId());
    }
  }

  /** The entry of an operation; a row of {@code wallet_entry}. */
  record Booked(
      EntryKey key,
      long seq,
      WalletKind kind,
      long signedCents,
      long balanceAfter,
      @Nullable Long chargeId,
      @Nullable String reason) {

    private boolean isOf(WalletOperation operation) {
      return kind == operation.kind()
          && signedCents == operation.signedCents()
          && Objects.equals(chargeId, operation.chargeId());
    }
  }

  private final Map<Long, WalletRow> storedWallets;
  private final Set<Long> busy;
  private final Map<Long, WalletRow> wallets = new TreeMap<>();
  private final Map<EntryKey, Booked> entries;
  private final List<Booked> newEntries = new ArrayList<>();
  private final Map<Long, ChargeRow> storedCharges;
  private final Map<Long, ChargeRow> charges = new TreeMap<>();
  private final List<WalletOutcome> outcomes = new ArrayList<>();

  /**
   * @param wallets of all users of the operations that have one
   * @param busy users whose wallets are locked by others, or edited by hand
   * @param entries of the operations that are done already
   * @param charges that operations name, where they are stored
   */
  WalletBatch(
      Map<Long, WalletRow> wallets,
      Set<Long> busy,
      Map<EntryKey, Booked> entries,
      Map<Long, ChargeRow> charges) {
    this.storedWallets = wallets;
    this.busy = busy;
    this.entries = new HashMap<>(entries);
    this.storedCharges = charges;
  }

  WalletBatch decide(Collection<WalletOperation> operations) {
    operations.forEach(operation -> outcomes.add(decide(operation)));
    return this;
  }

  private WalletOutcome decide(WalletOperation operation) {
    Booked before = entries.get(EntryKey.of(operation));
    if (before != null) {
      return before.isOf(operation)
          ? outcome(WalletCode.REPEATED, before)
          : WalletOutcome.of(WalletCode.IDEMPOTENCY_KEY_REUSED);
    }
    WalletCode refusal = refusal(operation);
    return refusal == null ? outcome(WalletCode.DONE, book(operation)) : WalletOutcome.of(refusal);
  }

  private static WalletOutcome outcome(WalletCode code, Booked entry) {
    return new WalletOutcome(code, entry.seq(), entry.balanceAfter());
  }

  private @Nullable WalletCode refusal(WalletOperation operation) {
    if (busy.contains(operation.userId())) {
      return WalletCode.BUSY;
    }
    WalletCode ofCharge =
        switch (operation.kind()) {
          case CHARGE -> refusalOfCharge(operation);
          case REFUND -> refusalOfRefund(operation);
          case RECHARGE, ADJUST -> null;
        };
    if (ofCharge != null) {
      return ofCharge;
    }
    long after = wallet(operation.userId()).balanceCents() + operation.signedCents();
    if (after < 0) {
      return WalletCode.INSUFFICIENT_FUNDS;
    }
    return after > WalletBalance.MAX_BALANCE_CENTS && operation.signedCents() > 0
        ? WalletCode.BALANCE_LIMIT
        : null;
  }

  private @Nullable WalletCode refusalOfCharge(WalletOperation operation) {
    ChargeRow charge = charge(operation);
    if (charge != null) {
      return charge.closed() ? WalletCode.CHARGE_CLOSED : WalletCode.IDEMPOTENCY_KEY_REUSED;
    }
    return wallet(operation.userId()).state() == WalletState.FROZEN
        ? WalletCode.WALLET_FROZEN
        : null;
  }

  private @Nullable WalletCode refusalOfRefund(WalletOperation operation) {
    ChargeRow charge = charge(operation);
    if (charge == null || charge.userId() != operation.userId()) {
      return WalletCode.UNKNOWN_CHARGE;
    } else if (charge.closed()) {
      return WalletCode.CHARGE_CLOSED;
    }
    return charge.leftCents() < operation.amountCents() ? WalletCode.REFUND_EXCEEDS_CHARGE : null;
  }

  private Booked book(WalletOperation operation) {
    WalletRow after = wallet(operation.userId()).plus(operation.signedCents());
    wallets.put(after.userId(), after);
    Long chargeId = operation.chargeId();
    if (chargeId != null) {
      ChargeRow charge = charge(operation);
      charges.put(
          chargeId,
          charge == null
              ? new ChargeRow(chargeId, after.userId(), operation.amountCents(), 0, false)
              : charge.refunded(operation.amountCents()));
    }
    Booked entry =
        new Booked(
            EntryKey.of(operation),
            after.seq(),
            operation.kind(),
            operation.signedCents(),
            after.balanceCents(),
            chargeId,
            operation.reason());
    entries.put(entry.key(), entry);
    newEntries.add(entry);
    return entry;
  }

  /** Ends a charge for good; one that was never made is closed with nothing charged. */
  void close(long chargeId) {
    ChargeRow charge = charges.getOrDefault(chargeId, storedCharges.get(chargeId));
    charges.put(
        chargeId,
        charge == null
            ? new ChargeRow(chargeId, 0, 0, 0, true)
            : new ChargeRow(
                chargeId, charge.userId(), charge.amountCents(), charge.refundedCents(), true));
  }

  private WalletRow wallet(long userId) {
    WalletRow changed = wallets.get(userId);
    return changed == null ? storedWallets.getOrDefault(userId, WalletRow.none(userId)) : changed;
  }

  private @Nullable ChargeRow charge(WalletOperation operation) {
    ChargeRow changed = charges.get(operation.chargeId());
    return changed == null ? storedCharges.get(operation.chargeId()) : changed;
  }

  /** One for each operation, in their order. */
  List<WalletOutcome> outcomes() {
    return Collections.unmodifiableList(outcomes);
  }

  boolean isDone() {
    return outcomes.stream().allMatch(outcome -> outcome.code() == WalletCode.DONE);
  }

  /** Wallets with a new balance, by user. */
  Collection<WalletRow> changedWallets() {
    return Collections.unmodifiableCollection(wallets.values());
  }

  /** By user and number, so that transactions which make wallets wait for one another in order. */
  List<Booked> newEntries() {
    return newEntries.stream()
        .sorted(Comparator.comparingLong(entry -> entry.key().userId()))
        .toList();
  }

  Collection<ChargeRow> changedCharges() {
    return Collections.unmodifiableCollection(charges.values());
  }

  boolean isStored(WalletRow changed) {
    return storedWallets.containsKey(changed.userId());
  }

  /** Whether a changed charge replaces a row. */
  boolean isStored(ChargeRow changed) {
    return storedCharges.containsKey(changed.chargeId());
  }
}
