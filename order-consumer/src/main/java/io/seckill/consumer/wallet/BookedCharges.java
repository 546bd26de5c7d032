package io.seckill.consumer.wallet;

import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * The charges of one wallet as its entries book them, compared with the stored ones. Those that are
 * equal already are forgotten whenever there are many; a later entry of one is a difference. Not
 * thread-safe.
 */
final class BookedCharges {

  /** A wallet may have millions, of some 110 bytes each. */
  private static final int MANY = 10_000;

  private static final int PAGE = 500;

  private final long userId;
  private final Function<Collection<Long>, Map<Long, ChargeRow>> stored;
  private final Map<Long, ChargeRow> booked = new HashMap<>();
  private int many = MANY;
  private long equalCents;

  /**
   * @param stored reads charges by id, in the snapshot of the entries
   */
  BookedCharges(long userId, Function<Collection<Long>, Map<Long, ChargeRow>> stored) {
    this.userId = userId;
    this.stored = stored;
  }

  void add(long chargeId, long chargedCents, long refundedCents) {
    booked.merge(
        chargeId,
        new ChargeRow(chargeId, userId, chargedCents, refundedCents, false),
        (a, b) ->
            new ChargeRow(
                chargeId,
                userId,
                a.amountCents() + b.amountCents(),
                a.refundedCents() + b.refundedCents(),
                false));
    if (booked.size() >= many) {
      var unused = compare();
      many = Math.max(MANY, 2 * booked.size()); // refunds of the others may follow
    }
  }

  /** Forgets charges that are stored as booked; returns how the others differ. */
  List<String> compare() {
    List<String> differences = new ArrayList<>();
    for (List<Long> ids : Sql.chunks(booked.keySet(), PAGE)) {
      Map<Long, ChargeRow> rows = stored.apply(ids);
      for (Long id : ids) {
        ChargeRow row = rows.get(id);
        ChargeRow entries = Objects.requireNonNull(booked.get(id));
        if (row == null
            || row.userId() != userId
            || row.amountCents() != entries.amountCents()
            || row.refundedCents() != entries.refundedCents()) {
          differences.add("charge %d is %s, but booked as %s".formatted(id, row, entries));
        } else {
          equalCents += row.amountCents();
          booked.remove(id);
        }
      }
    }
    return differences;
  }

  /** The sum of the charges that were stored as booked. */
  long equalCents() {
    return equalCents;
  }

  int size() {
    return booked.size();
  }
}
