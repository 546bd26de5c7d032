package io.seckill.consumer.storage;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.storage.OrderTable.Request;
import io.seckill.consumer.storage.OrderTable.RequestKey;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongDecision.Outcome;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Decides purchases of one strong sale in the order given, from one read; later ones see the units
 * that earlier ones take. The order of the checks is that of {@code admit.lua}. A purchase that
 * only reserved units could serve is BUSY: they are not sold out. So is, while units are reserved,
 * one that is refused by the sale's state, its times or its bound for one order, which the storing
 * of an order does not check: it may be the repeat of a purchase that Redis has admitted, and whose
 * order is stored when it arrives.
 */
final class StrongBatch {

  private final StrongSale sale;
  private final Map<RequestKey, Request> requests;
  private final Map<Long, Integer> owned;
  private final Iterator<OrderId> ids;

  private final List<StrongDecision> decisions = new ArrayList<>();
  private final List<OrderMessage> admitted = new ArrayList<>();
  private long stock;
  private long units;

  /**
   * @param requests those of the purchases that are stored; grows by those admitted here
   * @param owned units by user, where there are any; grows as well
   * @param ids at least one for each purchase
   */
  StrongBatch(
      StrongSale sale,
      Map<RequestKey, Request> requests,
      Map<Long, Integer> owned,
      List<OrderId> ids) {
    this.sale = sale;
    this.requests = requests;
    this.owned = owned;
    this.ids = ids.iterator();
    this.stock = sale.stock();
  }

  StrongBatch decide(List<StrongPurchase> purchases) {
    purchases.forEach(purchase -> decisions.add(decide(purchase)));
    return this;
  }

  private StrongDecision decide(StrongPurchase purchase) {
    RequestKey key = RequestKey.of(purchase);
    Request seen = requests.get(key);
    if (seen != null) {
      return seen.quantity() == purchase.quantity()
          ? StrongDecision.repeated(seen.orderId(), seen.status())
          : StrongDecision.of(Outcome.IDEMPOTENCY_KEY_REUSED);
    }
    Outcome refusal = refusal(purchase);
    return refusal == null ? admit(purchase, key) : StrongDecision.of(refusal);
  }

  private @Nullable Outcome refusal(StrongPurchase purchase) {
    int quantity = purchase.quantity();
    Outcome closed = sale.closed();
    if (closed != null || quantity > sale.maxPerOrder()) {
      Outcome refused = closed == null ? Outcome.QUANTITY : closed;
      return sale.reserved() > 0 ? Outcome.BUSY : refused;
    } else if (stock == 0 && !Shards.isShard(purchase.skuId())) { // of a shard it proves nothing
      return Outcome.SOLD_OUT;
    } else if (sale.rules().keepsQuota()
        && owned.getOrDefault(purchase.userId(), 0) + quantity > sale.rules().limit()) {
      return Outcome.QUOTA_EXCEEDED;
    } else if (stock < quantity) {
      return stock == 0 ? Outcome.SOLD_OUT : Outcome.TOO_FEW_LEFT;
    }
    return stock - sale.reserved() < quantity ? Outcome.BUSY : null;
  }

  private StrongDecision admit(StrongPurchase purchase, RequestKey key) {
    OrderId id = ids.next();
    stock -= purchase.quantity();
    units += purchase.quantity();
    owned.merge(purchase.userId(), purchase.quantity(), Integer::sum);
    requests.put(key, new Request(id, purchase.quantity(), OrderStatus.CONFIRMED));
    admitted.add(
        new OrderMessage(
            id,
            purchase.userId(),
            purchase.skuId(),
            purchase.quantity(),
            purchase.requestId(),
            sale.rules().policy(),
            sale.epoch(),
            sale.lastSeq() + admitted.size() + 1,
            sale.now().toEpochMilli(),
            purchase.traceparent()));
    return StrongDecision.confirmed(id);
  }

  /** One for each purchase, in their order. */
  List<StrongDecision> decisions() {
    return Collections.unmodifiableList(decisions);
  }

  boolean hasRefused() {
    return decisions.stream().anyMatch(decision -> decision.orderId() == null);
  }

  List<OrderMessage> admitted() {
    return Collections.unmodifiableList(admitted);
  }

  long units() {
    return units;
  }
}
