package io.seckill.consumer.ledger;

import io.seckill.common.order.OrderStatus;
import java.util.List;
import java.util.Map;

/**
 * A SKU as MySQL has it, all of one moment.
 *
 * @param state of the sale
 * @param stock units still sellable (sd)
 * @param total opening stock + added - withdrawn (S)
 * @param added units of additions that are in the total
 * @param withdrawn units of withdrawals that are in the total
 * @param settled orders settled, on the scale of {@link SaleInRedis#seq}
 * @param orders rows by status; a status without orders is absent
 * @param aliases orders that another one answers
 * @param deadLetters readable open dead letters whose order is not stored
 * @param owed units that Redis is to get back and has not confirmed, of the present epoch
 * @param unfinished stock changes of which one store does not know yet
 */
public record SaleInMySql(
    long skuId,
    String state,
    long epoch,
    long stock,
    long total,
    long added,
    long withdrawn,
    long settled,
    Map<OrderStatus, Sum> orders,
    Sum aliases,
    Sum deadLetters,
    long owed,
    List<UnfinishedChange> unfinished) {

  /**
   * A stock change on its way from one store to the other.
   *
   * @param delta units, positive adds
   * @param inMySql whether stock and total contain it
   */
  public record UnfinishedChange(String changeId, long delta, long epoch, boolean inMySql) {}

  /** Rows of a status. */
  public Sum of(OrderStatus status) {
    return orders.getOrDefault(status, Sum.NONE);
  }

  /** All rows and aliases: whatever MySQL has decided for good. */
  public Sum decided() {
    return orders.values().stream().reduce(aliases, Sum::plus);
  }
}
