package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * The contents of some buckets of a sale.
 *
 * @param quotas user to units, as they were read
 * @param records by order id, with the idempotency keys of their requests
 * @param compensated ids of the orders that have been compensated, with their units
 * @param requests {@code <user>:<key>} to order id
 */
record RedisPart(
    Map<Long, String> quotas,
    Map<OrderId, AdmissionRecord> records,
    Map<OrderId, Units> compensated,
    Map<String, OrderId> requests) {

  /** All orders with a record or a compensation. */
  Set<OrderId> orders() {
    Set<OrderId> orders = new HashSet<>(records.keySet());
    orders.addAll(compensated.keySet());
    return orders;
  }

  /** All users with a quota or a record. */
  Set<Long> users() {
    Set<Long> users = new HashSet<>(quotas.keySet());
    records.values().forEach(order -> users.add(order.userId()));
    return users;
  }

  /** Units that a compensation has returned. */
  record Units(long stock, long quota) {

    /**
     * @param text {@code <stock units>:<quota units>}
     * @throws IllegalArgumentException when it is something else
     */
    static Units parse(String text) {
      String[] part = text.split(":", -1);
      if (part.length != 2) {
        throw new IllegalArgumentException("not the units of a compensation");
      }
      return new Units(Long.parseLong(part[0]), Long.parseLong(part[1]));
    }
  }
}
