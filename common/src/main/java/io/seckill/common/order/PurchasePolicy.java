package io.seckill.common.order;

/** The limit on one user's purchases of a SKU. */
public enum PurchasePolicy {
  /** Once, one unit. */
  ONE_PER_USER,
  /** In several orders, up to the SKU's limit of units together. */
  LIMITED,
  /** Any number of times, within the limit of one order. No quota is stored anywhere. */
  UNLIMITED;

  /** Whether units per user are counted, in Redis and in MySQL. */
  public boolean keepsQuota() {
    return this != UNLIMITED;
  }

  /** Most units of one order. */
  public int largestOrder(int limitPerUser, int maxPerOrder) {
    return keepsQuota() ? Math.min(limitPerUser, maxPerOrder) : maxPerOrder;
  }
}
