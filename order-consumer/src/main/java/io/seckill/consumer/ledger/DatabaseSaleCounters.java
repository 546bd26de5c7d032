package io.seckill.consumer.ledger;

import io.seckill.common.sale.Decider;
import io.seckill.consumer.orders.OrderTotals;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The counters of one SKU in MySQL, all read in one snapshot.
 *
 * @param decides the store that decides its purchases
 * @param state of the sale
 * @param stock units still sellable (sd)
 * @param total opening stock + added - withdrawn (S)
 * @param settled orders settled, on the scale of {@link RedisSaleCounters#seq}
 * @param sums of the SKU's rows; an item without rows is absent
 * @param unfinished stock changes that at least one store may not contain yet
 */
record DatabaseSaleCounters(
    long skuId,
    Decider decides,
    String state,
    long epoch,
    long stock,
    long total,
    long settled,
    Map<Item, OrderTotals> sums,
    List<UnfinishedChange> unfinished) {

  /** Rows that are summed. The first five are the orders of that status. */
  enum Item {
    CONFIRMED,
    PAID,
    CANCELLED,
    EXPIRED,
    REJECTED,
    /** Second orders of a request for which MySQL had already stored another order. */
    ALIASES,
    /** Readable open dead letters whose order is not stored. */
    DEAD_LETTERS,
    /** Units to be returned to Redis that it has not confirmed, of the present epoch. */
    COMPENSATING,
    /** Stock changes that stock and total contain. */
    ADDED,
    WITHDRAWN
  }

  private static final Set<Item> DECIDED = EnumSet.range(Item.CONFIRMED, Item.ALIASES);

  /**
   * A stock change that is being carried from one store to the other.
   *
   * @param delta units, positive adds
   * @param inMySql whether stock and total contain it
   */
  record UnfinishedChange(String changeId, long delta, long epoch, boolean inMySql) {}

  OrderTotals of(Item item) {
    return sums.getOrDefault(item, OrderTotals.NONE);
  }

  /** Every order on which MySQL has made its final decision. */
  OrderTotals decided() {
    return DECIDED.stream().map(this::of).reduce(OrderTotals.NONE, OrderTotals::plus);
  }
}
