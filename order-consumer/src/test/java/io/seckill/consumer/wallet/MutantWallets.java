package io.seckill.consumer.wallet;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.wallet.WalletBatch.ChargeRow;
import io.seckill.consumer.wallet.WalletBatch.WalletRow;
import java.util.Collection;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What wallets must never do; a mutation calls it instead of the method of the same name. */
public final class MutantWallets {

  private MutantWallets() {}

  /** Returns more than the wallet has. */
  static long balanceCents(WalletRow wallet) {
    return wallet.balanceCents() + 1_000;
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
  public static void markPaid(Orders table, Collection<OrderId> orders) {}
}
