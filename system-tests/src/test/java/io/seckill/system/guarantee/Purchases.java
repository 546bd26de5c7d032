package io.seckill.system.guarantee;

import static java.util.stream.Collectors.toSet;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** What the shoppers of a run did and saw: each attempt, and what it was answered. */
public final class Purchases {

  /** What names one purchase: every try of it carries the same. */
  record Request(long skuId, long userId, String key) {

    static Request of(long skuId, OrderHistoryRow order) {
      return new Request(skuId, order.userId(), order.requestId());
    }
  }

  /**
   * A no that a shopper took as final.
   *
   * @param sentAtMs when the try that was refused was sent, ms since 1970
   * @param answeredAtMs when its answer was there
   */
  record Refusal(String code, long sentAtMs, long answeredAtMs) {}

  private final Map<Request, Integer> attempted = new ConcurrentHashMap<>();
  private final Map<Request, String> accepted = new ConcurrentHashMap<>();
  private final Map<Request, Refusal> refused = new ConcurrentHashMap<>();
  private final Map<String, String> outcomes = new ConcurrentHashMap<>();
  private final Map<String, String> unansweredEnds = new ConcurrentHashMap<>();
  private final List<String> contradictions = new CopyOnWriteArrayList<>();

  /** Notes an attempt before it is sent (T). */
  public void attempt(long skuId, long userId, String key, int quantity) {
    attempted.put(new Request(skuId, userId, key), quantity);
  }

  /**
   * Notes a 202 (K). A promise of another order for the same purchase is kept as a contradiction,
   * for {@link RequestsKeepTheirOrder} to judge.
   */
  public void accepted(long skuId, long userId, String key, String orderId) {
    String first = accepted.putIfAbsent(new Request(skuId, userId, key), orderId);
    if (first != null && !first.equals(orderId)) {
      contradiction("user " + userId + " key " + key + " got " + orderId + " after " + first);
    }
  }

  /**
   * Notes that a shopper was told no, once and for all.
   *
   * @param code SOLD_OUT or QUOTA_EXCEEDED
   * @param sentAtMs when the try that was refused was sent, ms since 1970
   * @param answeredAtMs when its answer was there
   */
  public void refused(
      long skuId, long userId, String key, String code, long sentAtMs, long answeredAtMs) {
    refused.put(new Request(skuId, userId, key), new Refusal(code, sentAtMs, answeredAtMs));
  }

  /** Notes that a shopper was told of the end of an order. */
  public void ended(String orderId, String status) {
    outcomes.put(orderId, status);
  }

  /** Notes that a shopper asked for the end of an order, and gave up before he was told. */
  public void unansweredEnd(String orderId, String status) {
    unansweredEnds.put(orderId, status);
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
    return accepted.entrySet().stream()
        .filter(promise -> promise.getKey().skuId() == skuId)
        .map(Map.Entry::getValue)
        .collect(toSet());
  }

  /** What each purchase of a SKU was promised. */
  Map<Request, String> accepted() {
    return accepted;
  }

  Map<Request, Refusal> refused() {
    return refused;
  }

  /** Units that a purchase asked for; null when nobody tried it. */
  @Nullable Integer quantityOf(Request request) {
    return attempted.get(request);
  }

  Map<String, String> outcomes() {
    return outcomes;
  }

  Map<String, String> unansweredEnds() {
    return unansweredEnds;
  }

  List<String> contradictions() {
    return contradictions;
  }
}
