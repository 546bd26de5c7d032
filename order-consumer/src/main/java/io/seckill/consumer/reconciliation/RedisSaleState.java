package io.seckill.consumer.reconciliation;

import io.seckill.consumer.products.ProductSnapshot;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A sale's hash and stock as Redis has them; empty and null when Redis has none.
 *
 * @param fields of the SKU's hash
 * @param stock units admissible, as text
 */
record RedisSaleState(Map<String, String> fields, @Nullable String stock) {

  /** The state while a sale is loaded, or a rebuild waits to load it: nothing is admitted. */
  static final String LOADING = "PREHEATING";

  boolean isAbsent() {
    return fields.isEmpty();
  }

  String state() {
    return text("state");
  }

  /** The highest epoch that Redis has seen, loaded or loading. */
  long epoch() {
    return Math.max(number("epoch"), number("loading"));
  }

  long seq() {
    return number("seq");
  }

  int bucketCount() {
    return (int) number("bucketCount");
  }

  /** Orders admitted that were not counted as published. */
  long unpublished() {
    return number("admittedOrders") - number("publishedOrders");
  }

  /** Whether a loading has begun and not ended, or a rebuild waits to begin it. */
  boolean isLoading() {
    return state().equals(LOADING);
  }

  /** Whether this is not what was written for MySQL's sale: older, unfinished or incomplete. */
  boolean isLostOf(ProductSnapshot sale) {
    return isAbsent()
        || isLoading()
        || number("epoch") != sale.epoch()
        || seq() < sale.lastSeq()
        || bucketCount() < 1
        || stock == null
        || !stock.matches("\\d{1,14}")
        || !fields.containsKey("policy")
        || !fields.containsKey("expiresAt");
  }

  /** A field of the hash, "" for none. */
  String text(String field) {
    return fields.getOrDefault(field, "");
  }

  /** A field of the hash, 0 when it is no number. */
  long number(String field) {
    String text = text(field);
    return text.matches("\\d{1,18}") ? Long.parseLong(text) : 0;
  }
}
