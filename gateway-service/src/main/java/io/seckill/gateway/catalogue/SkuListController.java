package io.seckill.gateway.catalogue;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.github.benmanes.caffeine.cache.AsyncLoadingCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.sale.Decider;
import io.seckill.gateway.catalogue.SkuPlace.When;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.RequestChecks;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** The public list of current and coming sales; each page is built at most twice a second. */
@RestController
final class SkuListController {

  private static final Duration FRESH = Duration.ofMillis(500);
  private static final int REMEMBERED = 1_000;
  private static final int MAX_LIMIT = 50;
  private static final Set<When> WHEN = EnumSet.allOf(When.class);

  private final ProductCache products;
  private final SaleStockCache sales;
  private final AsyncLoadingCache<Query, Page> pages;
  private final Clock clock = Clock.systemUTC();

  SkuListController(ProductCache products, SaleStockCache sales) {
    this.products = products;
    this.sales = sales;
    this.pages =
        Caffeine.newBuilder()
            .expireAfterWrite(FRESH)
            .maximumSize(REMEMBERED)
            .buildAsync((query, executor) -> read(query).toFuture());
  }

  /**
   * Which page.
   *
   * @param when null for all sales
   * @param after null for the first page
   */
  private record Query(@Nullable When when, @Nullable SkuPlace after, int limit) {

    boolean has(SkuPlace place) {
      return (when == null || when.has(place.group())) && place.isBehind(after);
    }
  }

  /**
   * A product with its sale.
   *
   * @param decides MYSQL for a strong sale
   * @param soldOut whether no unit is left to be admitted
   */
  record Listed(
      long skuId,
      String name,
      long priceCents,
      Decider decides,
      String state,
      boolean soldOut,
      @JsonFormat(shape = JsonFormat.Shape.STRING) Instant opensAt,
      @JsonFormat(shape = JsonFormat.Shape.STRING) Instant closesAt) {}

  private record Page(List<Listed> skus, @Nullable String next) {}

  /**
   * The products in the order of their {@link SkuPlace}s, with the server's time for countdowns.
   *
   * @param next cursor of the next page; null on the last one
   */
  record Shown(
      List<Listed> skus,
      @Nullable String next,
      @JsonFormat(shape = JsonFormat.Shape.STRING) Instant serverTime) {}

  @GetMapping("/api/v1/skus")
  Mono<Shown> list(
      @RequestParam(required = false) @Nullable String when,
      @RequestParam(required = false) @Nullable String limit,
      @RequestParam(required = false) @Nullable String cursor) {
    Query query =
        new Query(
            when == null ? null : RequestChecks.oneOf("when", when, WHEN),
            cursor == null ? null : SkuPlace.ofCursor(cursor),
            PathIds.limit(limit, MAX_LIMIT, MAX_LIMIT));
    // Shared with other callers: one that cancels must not cancel it for them.
    return Mono.fromFuture(() -> pages.get(query), true)
        .map(page -> new Shown(page.skus(), page.next(), now()));
  }

  private Instant now() {
    return clock.instant().truncatedTo(ChronoUnit.MILLIS);
  }

  private Mono<Page> read(Query query) {
    return Mono.defer(() -> page(query));
  }

  private Mono<Page> page(Query query) {
    Instant now = clock.instant();
    TreeMap<SkuPlace, ProductRow> first = new TreeMap<>();
    for (ProductRow product : products.all()) {
      SkuPlace place = SkuPlace.of(product, now);
      if (place != null && query.has(place)) {
        first.put(place, product);
        if (first.size() > query.limit() + 1) {
          first.pollLastEntry();
        }
      }
    }
    boolean more = first.size() > query.limit();
    if (more) {
      first.pollLastEntry();
    }
    String next = more ? first.lastKey().cursor() : null;
    return sales.of(first.values()).map(found -> new Page(listed(first.values(), found), next));
  }

  private static List<Listed> listed(
      Collection<ProductRow> shown, Map<Long, SaleStockCache.SaleStock> found) {
    return shown.stream()
        .map(one -> listed(one, Objects.requireNonNull(found.get(one.skuId()))))
        .toList();
  }

  private static Listed listed(ProductRow product, SaleStockCache.SaleStock sale) {
    long left = sale.stock() == null ? product.stock() : sale.stock();
    return new Listed(
        product.skuId(),
        product.name(),
        product.priceCents(),
        product.decides(),
        product.state().name(),
        left <= 0,
        product.opensAt(),
        product.closesAt());
  }
}
