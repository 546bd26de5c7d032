package io.seckill.system.guarantee;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** What the shoppers of a run saw: each attempt, and each order id they were promised. */
public final class Purchases {

  private final Set<String> attempted = ConcurrentHashMap.newKeySet();
  private final Map<String, String> accepted = new ConcurrentHashMap<>();

  /** Notes an attempt before it is sent (T). */
  public void attempt(long userId, String key) {
    attempted.add(userId + ":" + key);
  }

  /**
   * Notes a 202 (K).
   *
   * @throws AssertionError when the same user and key had been promised another order
   */
  public void accepted(long userId, String key, String orderId) {
    String first = accepted.putIfAbsent(userId + ":" + key, orderId);
    if (first != null && !first.equals(orderId)) {
      throw new AssertionError(
          "user " + userId + " key " + key + " got " + orderId + " after " + first);
    }
  }

  /** Order ids promised so far. */
  public Set<String> acceptedOrders() {
    return Set.copyOf(accepted.values());
  }

  boolean wasAttempted(StoredOrder order) {
    return attempted.contains(order.userId() + ":" + order.requestId());
  }
}
