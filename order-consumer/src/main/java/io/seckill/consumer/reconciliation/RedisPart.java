package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import java.util.HashMap;
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

  /** An empty part, which {@link #add} fills. */
  RedisPart() {
    this(new HashMap<>(), new HashMap<>(), new HashMap<>(), new HashMap<>());
  }

  /**
   * Adds a field of a bucket.
   *
   * @throws IllegalArgumentException for one that no service writes
   */
  void add(String field, String value) {
    int colon = field.indexOf(':');
    if (colon < 0) {
      records.put(OrderId.parse(field), AdmissionRecord.parse(value));
    } else if (field.startsWith(RedisKeys.COMPENSATED)) {
      compensated.put(OrderId.parse(field.substring(colon + 1)), Units.parse(value));
    } else if (field.startsWith(RedisKeys.ENDED)) {
      return; // names orders that have fields of their own
    } else if (colon == field.length() - 1) {
      quotas.put(Long.valueOf(field.substring(0, colon)), value);
    } else {
      requests.put(field, OrderId.parse(value.split(":", 2)[0]));
    }
  }

  /** Gives the records the idempotency keys of their requests, when all fields are added. */
  void joinRequests() {
    requests.forEach(
        (request, orderId) -> {
          String key = request.substring(request.indexOf(':') + 1);
          records.computeIfPresent(orderId, (id, order) -> order.withRequest(key));
        });
  }

  /** Whether an order has no record, or no request and is not an alias. */
  boolean lacks(OrderId id, AdmissionRecord order) {
    String request = RedisSale.request(order);
    return !records.containsKey(id) || (request != null && !requests.containsKey(request));
  }

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
