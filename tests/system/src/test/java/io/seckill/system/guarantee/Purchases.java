package io.seckill.system.guarantee;

import static java.util.stream.Collectors.toSet;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** The attempts of a run's shoppers, and the answers they received. */
public final class Purchases {

  /** Identifies one purchase; the same for all its attempts. */
  record Request(long skuId, long userId, String key) {

    static Request of(long skuId, OrderHistoryRow order) {
      return new Request(skuId, order.userId(), order.requestId());
    }
  }

  /**
   * A refusal that a shopper accepted as final.
   *
   * @param sentAtMs when the try that was refused was sent, ms since 1970
   * @param answeredAtMs when its answer was there
   * @param certain whether every earlier try was answered that nothing was taken
   */
  record Refusal(String code, long sentAtMs, long answeredAtMs, boolean certain) {}

  private final Map<Request, Integer> attempted = new ConcurrentHashMap<>();
  private final Map<Request, String> accepted = new ConcurrentHashMap<>();
  private final Map<Request, Refusal> refused = new ConcurrentHashMap<>();
  private final Map<String, String> outcomes = new ConcurrentHashMap<>();
  private final Map<String, String> unansweredEnds = new ConcurrentHashMap<>();
  private final List<String> contradictions = new CopyOnWriteArrayList<>();

  /** Records an attempt before it is sent (T). */
  public void attempt(long skuId, long userId, String key, int quantity) {
    attempted.put(new Request(skuId, userId, key), quantity);
  }

  /**
   * Records a 202 (K), or of a strong sale a 201. Another order id for the same purchase is
   * recorded as a contradiction, which {@link RequestsKeepTheirOrder} reports.
   */
  public void accepted(long skuId, long userId, String key, String orderId) {
    String first = accepted.putIfAbsent(new Request(skuId, userId, key), orderId);
    if (first != null && !first.equals(orderId)) {
      contradiction("user " + userId + " key " + key + " got " + orderId + " after " + first);
    }
  }

  /**
   * Records a refusal that a shopper accepted as final.
   *
   * @param code SOLD_OUT or QUOTA_EXCEEDED
   * @param sentAtMs when the try that was refused was sent, ms since 1970
   * @param answeredAtMs when its answer was there
   */
  public void refused(
      long skuId, long userId, String key, String code, long sentAtMs, long answeredAtMs) {
    refused.put(new Request(skuId, userId, key), new Refusal(code, sentAtMs, answeredAtMs, false));
  }

  /**
   * Records that every try before the refusal of a purchase was answered that nothing was taken.
   */
  public void certainlyRefused(long skuId, long userId, String key) {
    refused.computeIfPresent(
        new Request(skuId, userId, key),
        (request, refusal) ->
            new Refusal(refusal.code(), refusal.sentAtMs(), refusal.answeredAtMs(), true));
  }

  /** Records the end of an order that was confirmed to its shopper. */
  public void ended(String orderId, String status) {
    outcomes.put(orderId, status);
  }

  /** Records that a shopper requested the end of an order and gave up before the answer. */
  public void unansweredEnd(String orderId, String status) {
    unansweredEnds.put(orderId, status);
  }

  /** Records an answer that no guarantee allows. */
  public void contradiction(String what) {
    contradictions.add(what);
  }

  /** Ids of the orders accepted so far. */
  public Set<String> acceptedOrders() {
    return Set.copyOf(accepted.values());
  }

  public Set<String> acceptedOrders(long skuId) {
    return accepted.entrySet().stream()
        .filter(promise -> promise.getKey().skuId() == skuId)
        .map(Map.Entry::getValue)
        .collect(toSet());
  }

  /** The order id of each accepted purchase. */
  Map<Request, String> accepted() {
    return accepted;
  }

  Map<Request, Refusal> refused() {
    return refused;
  }

  /** Units that a purchase requested; null if there was no attempt. */
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
