package io.seckill.consumer.payment;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.support.contract.OrderRow;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Judges the charges of one transaction: the first charge of a waiting order pays for it, every
 * charge of an ended order is refunded, and any other needs an operator. Not thread-safe.
 */
final class ChargeJudge {

  /** The meaning of a charge of the right amount. */
  enum Verdict {
    PAYS(null),
    HAS_PAID(null),
    REFUND(null),
    SECOND_CHARGE(UnexplainedReason.SECOND_CHARGE),
    OF_OTHER_ORDER(UnexplainedReason.CHARGE_OF_OTHER_ORDER),
    CONTRADICTED(UnexplainedReason.CONTRADICTED);

    private final @Nullable UnexplainedReason reason;

    Verdict(@Nullable UnexplainedReason reason) {
      this.reason = reason;
    }

    /** Null unless an operator must decide. */
    @Nullable UnexplainedReason reason() {
      return reason;
    }
  }

  private final Map<String, OrderId> owners;
  private final Set<String> contradicted;
  private final Map<OrderId, String> kept;

  /**
   * @param owners the order that each charge was first reported for
   * @param contradicted charges that an operator decides or has decided about
   * @param kept the charges that have paid for PAID orders
   */
  ChargeJudge(Map<String, OrderId> owners, Set<String> contradicted, Map<OrderId, String> kept) {
    this.owners = owners;
    this.contradicted = contradicted;
    this.kept = new HashMap<>(kept);
  }

  /** The transaction has locked the order. */
  Verdict judge(OrderRow order, String chargeId) {
    if (order.status().hasEnded()) {
      return Verdict.REFUND;
    }
    String keptCharge = kept.get(order.orderId());
    if (chargeId.equals(keptCharge)) {
      return Verdict.HAS_PAID;
    }
    if (!order.orderId().equals(owners.get(chargeId))) {
      return Verdict.OF_OTHER_ORDER;
    }
    if (order.status() == OrderStatus.PAID || keptCharge != null) {
      return Verdict.SECOND_CHARGE;
    }
    if (contradicted.contains(chargeId)) {
      return Verdict.CONTRADICTED;
    }
    kept.put(order.orderId(), chargeId);
    return Verdict.PAYS;
  }
}
