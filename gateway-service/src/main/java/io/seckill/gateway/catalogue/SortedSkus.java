package io.seckill.gateway.catalogue;

import com.github.benmanes.caffeine.cache.AsyncLoadingCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.seckill.gateway.catalogue.SkuListController.SkuPlace;
import io.seckill.gateway.catalogue.SkuListController.SkuPlace.When;
import io.seckill.support.contract.ProductRow;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The sales of the public list in its order. All of them, and each part of the list, are sorted at
 * most twice a second, by no caller's thread: anybody may ask for a page behind any place.
 */
final class SortedSkus {

  private static final Duration FRESH = Duration.ofMillis(500);

  private final Supplier<Collection<ProductRow>> products;
  private final AsyncLoadingCache<Optional<When>, NavigableMap<SkuPlace, ProductRow>> sorted;

  SortedSkus(Supplier<Collection<ProductRow>> products, Ticker ticker) {
    this.products = products;
    this.sorted =
        Caffeine.newBuilder()
            .expireAfterWrite(FRESH)
            .ticker(ticker)
            .buildAsync(when -> sort(when.orElse(null)));
  }

  /** Some of them; {@code next} is the cursor of those behind, null when there are none. */
  record Part(List<ProductRow> skus, @Nullable String next) {}

  /**
   * At most {@code limit} of them.
   *
   * @param when null for all sales
   * @param after null for the first ones
   * @return fails when the supplier of the products does
   */
  CompletableFuture<Part> part(@Nullable When when, @Nullable SkuPlace after, int limit) {
    return sorted
        .get(Optional.ofNullable(when))
        .thenApply(all -> first(after == null ? all : all.tailMap(after, false), limit));
  }

  private static Part first(NavigableMap<SkuPlace, ProductRow> skus, int limit) {
    List<ProductRow> first = new ArrayList<>();
    SkuPlace last = null;
    for (Map.Entry<SkuPlace, ProductRow> one : skus.entrySet()) {
      if (last != null && first.size() == limit) {
        return new Part(first, last.cursor());
      }
      first.add(one.getValue());
      last = one.getKey();
    }
    return new Part(first, null);
  }

  private NavigableMap<SkuPlace, ProductRow> sort(@Nullable When when) {
    Instant now = Instant.now();
    NavigableMap<SkuPlace, ProductRow> skus = new TreeMap<>(SkuPlace.ORDER);
    for (ProductRow product : products.get()) {
      SkuPlace place = SkuPlace.of(product, now);
      if (place != null && (when == null || when.has(place.group()))) {
        skus.put(place, product);
      }
    }
    return skus;
  }
}
