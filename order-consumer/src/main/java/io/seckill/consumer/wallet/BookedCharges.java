package io.seckill.consumer.wallet;

import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The charges of some wallets as their entries book them, compared with the stored ones. Those that
 * are equal already are forgotten whenever there are many; a later entry of one is a difference.
 * Not thread-safe.
 */
final class BookedCharges {

  /** A wallet may have millions, of some 140 bytes each. */
  private static final int MANY = 10_000;

  private static final int PAGE = 500;

  private final Function<Collection<Long>, Map<Long, ChargeRow>> stored;
  private final Map<ChargeOfUser, ChargeRow> booked = new HashMap<>();
  private int many = MANY;
  private long equalCents;

  /** Entries edited by hand may book one charge for two users. */
  private record ChargeOfUser(long userId, long chargeId) {}

  /**
   * @param stored reads charges by id, in the snapshot of the entries
   */
  BookedCharges(Function<Collection<Long>, Map<Long, ChargeRow>> stored) {
    this.stored = stored;
  }

  void add(long userId, long chargeId, long chargedCents, long refundedCents) {
    booked.merge(
        new ChargeOfUser(userId, chargeId),
        new ChargeRow(chargeId, userId, chargedCents, refundedCents, false),
        (a, b) ->
            new ChargeRow(
                chargeId,
                userId,
                a.amountCents() + b.amountCents(),
                a.refundedCents() + b.refundedCents(),
                false));
    if (booked.size() >= many) {
      compare((user, difference) -> {});
      many = Math.max(MANY, 2 * booked.size()); // refunds of the others may follow
    }
  }

  /**
   * Forgets charges that are stored as booked.
   *
   * @param differs receives the user and the difference of each other one
   */
  void compare(BiConsumer<Long, String> differs) {
    for (List<ChargeRow> page : Sql.chunks(booked.values(), PAGE)) {
      Map<Long, ChargeRow> rows =
          stored.apply(page.stream().map(ChargeRow::chargeId).distinct().toList());
      for (ChargeRow entries : page) {
        long id = entries.chargeId();
        ChargeRow row = rows.get(id);
        if (row == null
            || row.userId() != entries.userId()
            || row.amountCents() != entries.amountCents()
            || row.refundedCents() != entries.refundedCents()) {
          differs.accept(
              entries.userId(), "charge %d is %s, but booked as %s".formatted(id, row, entries));
        } else {
          equalCents += row.amountCents();
          booked.remove(new ChargeOfUser(entries.userId(), id));
        }
      }
    }
  }

  /** The sum of the charges that were stored as booked. */
  long equalCents() {
    return equalCents;
  }

  int size() {
    return booked.size();
  }
}
