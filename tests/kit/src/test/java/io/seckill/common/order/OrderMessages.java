package io.seckill.common.order;

/** Orders of one unit, without a sale; a SKU and a number always make the same order. */
public final class OrderMessages {

  private static final long TIME = 1_790_000_000_000L;

  private OrderMessages() {}

  /**
   * Returns an order in epoch 1.
   *
   * @param number of the order within its SKU, from 1: its sequence number and its user's id
   */
  public static OrderMessage of(long sku, int number) {
    return of(sku, number, TIME);
  }

  /** As {@link #of(long, int)}, with this time of admission. */
  public static OrderMessage of(long sku, int number, long admittedAt) {
    return new OrderMessage(
        OrderId.of(TIME + number / 1_000, Partition.ofSku(sku), 1, number % 1_000),
        number,
        sku,
        1,
        "request-" + number,
        PurchasePolicy.UNLIMITED,
        1,
        number,
        admittedAt,
        null);
  }
}
