package io.seckill.system.guarantee;

import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** What the shoppers of a run saw: each attempt, and each order id they were promised. */
public final class Purchases {

  /** The SKU of those who buy from one sale only. */
  private static final long ANY_SKU = 0;

  private final Set<String> attempted = ConcurrentHashMap.newKeySet();
  private final Map<String, String> accepted = new ConcurrentHashMap<>();
  private final Map<String, Long> refused = new ConcurrentHashMap<>();
  private final Map<String, String> outcomes = new ConcurrentHashMap<>();
  private final List<String> contradictions = new CopyOnWriteArrayList<>();

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
    accepted(ANY_SKU, userId, key, orderId);
    if (!contradictions.isEmpty()) {
      throw new AssertionError(contradictions.toString());
    }
  }

  /**
   * As {@link #accepted(long, String, String)}, for a run with several sales; a promise of another
   * order is kept as a contradiction, for {@link RequestsKeepTheirOrder} to judge.
   */
  public void accepted(long skuId, long userId, String key, String orderId) {
    String first = accepted.putIfAbsent(request(skuId, userId + ":" + key), orderId);
    if (first != null && !first.equals(orderId)) {
      contradiction("user " + userId + " key " + key + " got " + orderId + " after " + first);
    }
  }

  /**
   * Notes that a shopper was told no, once and for all.
   *
   * @param sentAtMs when the try that was refused was sent, ms since 1970
   */
  public void refused(long skuId, long userId, String key, long sentAtMs) {
    refused.put(request(skuId, userId + ":" + key), sentAtMs);
  }

  /** When the try of this order's purchase that was refused was sent; empty when none was. */
  OptionalLong refusedTrySentAt(long skuId, StoredOrder order) {
    Long sentAt = refused.get(request(skuId, order.userId() + ":" + order.requestId()));
    return sentAt == null ? OptionalLong.empty() : OptionalLong.of(sentAt);
  }

  /** Notes that a shopper was told of the end of an order. */
  public void ended(String orderId, String status) {
    outcomes.put(orderId, status);
  }

  /** Notes an answer that no promise allows. */
  public void contradiction(String what) {
    contradictions.add(what);
  }

  /** Order ids promised so far. */
  public Set<String> acceptedOrders() {
    return Set.copyOf(accepted.values());
  }

  Set<String> acceptedOrders(long skuId) {
    Set<String> ids = ConcurrentHashMap.newKeySet();
    accepted.forEach(
        (request, id) -> {
          if (request.startsWith(ANY_SKU + "/") || request.startsWith(skuId + "/")) {
            ids.add(id);
          }
        });
    return ids;
  }

  /** The order promised for {@code user:key}, empty when none was. */
  String orderOf(long skuId, String userAndKey) {
    return accepted.getOrDefault(
        request(skuId, userAndKey), accepted.getOrDefault(request(ANY_SKU, userAndKey), ""));
  }

  Map<String, String> outcomes() {
    return outcomes;
  }

  List<String> contradictions() {
    return contradictions;
  }

  boolean wasAttempted(StoredOrder order) {
    return attempted.contains(order.userId() + ":" + order.requestId());
  }

  private static String request(long skuId, String userAndKey) {
    return skuId + "/" + userAndKey;
  }
}
