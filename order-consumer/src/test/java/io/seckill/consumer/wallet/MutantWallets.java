package io.seckill.consumer.wallet;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.wallet.WalletBatch.Booked;
import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import io.seckill.consumer.wallet.WalletBatch.WalletRow;
import io.seckill.support.contract.OrderRow;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcOperations;

/** What wallets must never do; a mutation calls it instead of the method of the same name. */
public final class MutantWallets {

  private MutantWallets() {}

  /** Returns more than the wallet has. */
  static long balanceCents(WalletRow wallet) {
    return wallet.balanceCents() + 1_000;
  }

  /** Returns balances that are read before their lock. */
  static Map<Long, WalletRow> lock(JdbcOperations jdbc, Collection<Long> users, boolean wait) {
    Map<Long, WalletRow> before = WalletTable.find(jdbc, users);
    WalletTable.lock(jdbc, users, wait);
    return before;
  }

  /** Commits rows no matter how many MySQL has counted. */
  static void checkCount(int count, int expected) {}

  /** Returns an amount that is not the opposite of its house account's. */
  static long signedCents(Booked entry) {
    return Math.abs(entry.signedCents());
  }

  /** Returns what was charged, as if nothing were refunded. */
  static long leftCents(ChargeRow charge) {
    return charge.amountCents();
  }

  /** Forgets every key. */
  static @Nullable Object get(Map<?, ?> entries, Object key) {
    return null;
  }

  /** Leaves orders unpaid whose charge is made. */
  public static Map<OrderId, OrderRow> markPaid(
      Orders table, Collection<OrderId> orders, Orders.Locked locked) {
    return locked.rows();
  }
}
