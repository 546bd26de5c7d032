package io.seckill.system.guarantee;

import static java.util.stream.Collectors.toSet;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.HashSet;
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

  /**
   * All that is recorded of one purchase.
   *
   * @param quantity null if there was no attempt
   * @param orderId null if it was not accepted
   * @param refusal null if it was not refused
   */
  record Purchase(
      Request request,
      @Nullable Integer quantity,
      @Nullable String orderId,
      @Nullable Refusal refusal) {}

  private final Map<Request, Integer> attempted = new ConcurrentHashMap<>();
  private final Map<Request, String> accepted = new ConcurrentHashMap<>();
  private final Map<Request, Refusal> refused = new ConcurrentHashMap<>();
  private final Map<String, String> outcomes = new ConcurrentHashMap<>();
  private final Map<String, String> unansweredEnds = new ConcurrentHashMap<>();
  private final List<String> contradictions = new CopyOnWriteArrayList<>();

  public Purchases() {}

  /** The purchases of a recorded run. */
  @JsonCreator
  Purchases(
      @JsonProperty("purchases") List<Purchase> purchases,
      @JsonProperty("outcomes") Map<String, String> outcomes,
      @JsonProperty("unansweredEnds") Map<String, String> unansweredEnds,
      @JsonProperty("contradictions") List<String> contradictions) {
    for (Purchase purchase : purchases) {
      Request request = purchase.request();
      if (purchase.quantity() != null) {
        attempted.put(request, purchase.quantity());
      }
      if (purchase.orderId() != null) {
        accepted.put(request, purchase.orderId());
      }
      if (purchase.refusal() != null) {
        refused.put(request, purchase.refusal());
      }
    }
    this.outcomes.putAll(outcomes);
    this.unansweredEnds.putAll(unansweredEnds);
    this.contradictions.addAll(contradictions);
  }

  @JsonProperty("purchases")
  List<Purchase> purchases() {
    Set<Request> all = new HashSet<>(attempted.keySet());
    all.addAll(accepted.keySet());
    all.addAll(refused.keySet());
    return all.stream()
        .map(
            request ->
                new Purchase(
                    request, attempted.get(request), accepted.get(request), refused.get(request)))
        .toList();
  }

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
   * @param code SOLD_OUT, TOO_FEW_LEFT or QUOTA_EXCEEDED
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

  @JsonProperty("outcomes")
  Map<String, String> outcomes() {
    return outcomes;
  }

  @JsonProperty("unansweredEnds")
  Map<String, String> unansweredEnds() {
    return unansweredEnds;
  }

  @JsonProperty("contradictions")
  List<String> contradictions() {
    return contradictions;
  }
}
