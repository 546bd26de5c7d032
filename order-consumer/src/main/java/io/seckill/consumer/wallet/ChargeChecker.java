package io.seckill.consumer.wallet;

import io.seckill.consumer.payment.ChargesInTransaction;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import java.util.List;
import org.springframework.jdbc.core.JdbcOperations;

/** Checks all charges of wallets against orders and payments, in one snapshot. */
record ChargeChecker(JdbcOperations snapshot, WalletDifferences differences, Runnable stepEnds) {

  private static final int PAGE = 500;

  /**
   * @param bookedCents sum of the charges that entries explain
   */
  void run(long bookedCents) {
    checkCharges(bookedCents);
    checkPayments();
  }

  /** Money that was charged for a waiting or ended order is with the house for a while only. */
  private void checkCharges(long bookedCents) {
    long chargedCents = bookedCents;
    long after = 0;
    List<ChargeRow> page;
    do {
      page = WalletTable.chargesAfter(snapshot, after, PAGE);
      chargedCents -= page.stream().mapToLong(ChargeRow::amountCents).sum();
      List<Long> inForce =
          page.stream().filter(ChargeRow::isInForce).map(ChargeRow::chargeId).toList();
      if (!inForce.isEmpty()) {
        snapshot.query(
            "SELECT o.order_id, o.user_id, o.status FROM orders o LEFT JOIN payment p"
                + " ON p.order_id = o.order_id WHERE o.order_id IN ("
                + Sql.marks(inForce.size())
                + ") AND o.status <> 'PAID' AND p.check_at IS NULL",
            row -> {
              differences.add(
                  row.getLong(2),
                  "order %d is %s, but charged".formatted(row.getLong(1), row.getString(3)));
            },
            inForce.toArray());
      }
      after = page.isEmpty() ? after : page.get(page.size() - 1).chargeId();
      stepEnds.run();
    } while (page.size() == PAGE);
    if (chargedCents != 0 && differences.count() == 0) {
      differences.add("charges of %d have no entry".formatted(-chargedCents));
    }
  }

  private void checkPayments() {
    long after = 0;
    List<Long> page;
    do {
      page =
          snapshot.query(
              "SELECT p.order_id, IF(w.closed, 'closed', w.amount_cents) AS charge,"
                  + " p.amount_cents > 0 AND p.charge_id = CONCAT(?, p.order_id)"
                  + " AND NOT (w.closed <=> FALSE AND w.amount_cents <=> p.amount_cents) AS differs"
                  + " FROM payment p LEFT JOIN wallet_charge w ON w.charge_id = p.order_id"
                  + " WHERE p.order_id > ? AND p.state = 'CHARGED' ORDER BY p.order_id LIMIT ?",
              (row, number) -> {
                long order = row.getLong("order_id");
                if (row.getBoolean("differs")) {
                  differences.add(
                      "order %d is paid, but its charge is %s"
                          .formatted(order, row.getString("charge")));
                }
                return order;
              },
              ChargesInTransaction.ID_PREFIX,
              after,
              PAGE);
      after = page.isEmpty() ? after : page.get(page.size() - 1);
      stepEnds.run();
    } while (page.size() == PAGE);
  }
}
