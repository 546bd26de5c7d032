package io.seckill.consumer.consistency;

import io.seckill.common.order.OrderStatus;
import java.util.List;
import java.util.Map;

/**
 * The counters of one SKU in MySQL, all read in one snapshot.
 *
 * @param state of the sale
 * @param stock units still sellable (sd)
 * @param total opening stock + added - withdrawn (S)
 * @param added units of additions that are in the total
 * @param withdrawn units of withdrawals that are in the total
 * @param settled orders settled, on the scale of {@link RedisSaleCounters#seq}
 * @param orders rows by status; a status without orders is absent
 * @param aliases second orders of a request for which MySQL had already stored another order
 * @param deadLetters readable open dead letters whose order is not stored
 * @param compensating units to be returned to Redis that it has not confirmed, of the present epoch
 * @param unfinished stock changes that at least one store may not contain yet
 */
record DatabaseSaleCounters(
    long skuId,
    String state,
    long epoch,
    long stock,
    long total,
    long added,
    long withdrawn,
    long settled,
    Map<OrderStatus, OrderTotals> orders,
    OrderTotals aliases,
    OrderTotals deadLetters,
    long compensating,
    List<UnfinishedChange> unfinished) {

  /**
   * A stock change that is being carried from one store to the other.
   *
   * @param delta units, positive adds
   * @param inMySql whether stock and total contain it
   */
  record UnfinishedChange(String changeId, long delta, long epoch, boolean inMySql) {}

  /** Rows of a status. */
  OrderTotals of(OrderStatus status) {
    return orders.getOrDefault(status, OrderTotals.NONE);
  }

  /** All rows and aliases: every order on which MySQL has made its final decision. */
  OrderTotals decided() {
    return orders.values().stream().reduce(aliases, OrderTotals::plus);
  }
}
