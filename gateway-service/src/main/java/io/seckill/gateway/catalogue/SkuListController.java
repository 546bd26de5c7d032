package io.seckill.gateway.catalogue;

import com.github.benmanes.caffeine.cache.AsyncLoadingCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleState;
import io.seckill.gateway.catalogue.SkuListController.SkuPlace.When;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/**
 * The public list of current and coming sales; each page is built at most twice a second. It never
 * waits for Redis to work again: what is sold out is then read from MySQL's stock.
 */
@RestController
final class SkuListController {

  private static final Duration FRESH = Duration.ofMillis(500);
  private static final int REMEMBERED = 1_000;
  private static final int MAX_LIMIT = 50;

  private final SortedSkus sorted;
  private final SaleStockCache sales;
  private final AsyncLoadingCache<Query, Page> pages;

  SkuListController(ProductCache products, SaleStockCache sales) {
    this.sorted = new SortedSkus(products::all, Ticker.systemTicker());
    this.sales = sales;
    this.pages =
        Caffeine.newBuilder()
            .expireAfterWrite(FRESH)
            .maximumSize(REMEMBERED)
            .buildAsync((query, executor) -> read(query).toFuture());
  }

  /**
   * A page of the list.
   *
   * @param when null for all sales
   * @param after null for the first page
   */
  private record Query(@Nullable When when, @Nullable SkuPlace after, int limit) {}

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
      Instant opensAt,
      Instant closesAt) {}

  private record Page(List<Listed> skus, @Nullable String next) {}

  /**
   * The products in the order of their {@link SkuPlace}s, with the server's time for countdowns;
   * {@code next} is the cursor of the next page, null on the last one.
   */
  record Shown(List<Listed> skus, @Nullable String next, Instant serverTime) {}

  @GetMapping("/api/v1/skus")
  Mono<Shown> list(
      @RequestParam(required = false) @Nullable String when,
      @RequestParam(required = false) @Nullable String limit,
      @RequestParam(required = false) @Nullable String cursor) {
    Query query =
        new Query(
            when == null ? null : RequestChecks.oneOf("when", when, When.class),
            cursor == null ? null : SkuPlace.ofCursor(cursor),
            PathIds.limit(limit, MAX_LIMIT, MAX_LIMIT));
    // Shared with other callers: one that cancels must not cancel it for them.
    return Mono.fromFuture(() -> pages.get(query), true)
        .map(
            page ->
                new Shown(page.skus(), page.next(), Instant.now().truncatedTo(ChronoUnit.MILLIS)));
  }

  private Mono<Page> read(Query query) {
    return Mono.fromFuture(() -> sorted.part(query.when(), query.after(), query.limit()))
        .flatMap(
            part ->
                sales
                    .of(part.skus())
                    .map(found -> new Page(listed(part.skus(), found), part.next())));
  }

  private static List<Listed> listed(
      Collection<ProductRow> shown, Map<Long, SaleStockCache.SaleStock> found) {
    return shown.stream()
        .map(one -> listed(one, found.get(one.skuId())))
        .filter(one -> !one.state().equals(SaleState.CLOSED.name())) // MySQL may not have it yet
        .toList();
  }

  private static Listed listed(ProductRow product, SaleStockCache.@Nullable SaleStock sale) {
    long left = sale == null || sale.stock() == null ? product.stock() : sale.stock();
    return new Listed(
        product.skuId(),
        product.name(),
        product.priceCents(),
        product.decides(),
        (sale == null ? product.state() : sale.stateOf(product)).name(),
        left <= 0,
        product.opensAt(),
        product.closesAt());
  }

  /**
   * The place of a sale in the list of SKUs, ordered as a shopper looks: what can be bought,
   * soonest end first; what opens, soonest first; what is paused; what is sold out.
   *
   * @param atMs time by which the group is ordered, Unix milliseconds
   */
  record SkuPlace(Group group, long atMs, long skuId) {

    private static final Pattern CURSOR =
        Pattern.compile("(ON_SALE|COMING|PAUSED|SOLD_OUT)-([0-9]{1,15})-([1-9][0-9]{0,15})");
    static final Comparator<SkuPlace> ORDER =
        Comparator.comparing(SkuPlace::group)
            .thenComparing(SkuPlace::atMs)
            .thenComparing(SkuPlace::skuId);

    /** The part of the list that a sale belongs to. */
    enum Group {
      ON_SALE,
      COMING,
      PAUSED,
      SOLD_OUT
    }

    /** The parts of the list that can be asked for alone. */
    enum When {
      /** Sales that have opened, also those that are paused or sold out. */
      NOW,
      /** Sales that have not. */
      SOON;

      boolean has(Group group) {
        return (group == Group.COMING) == (this == SOON);
      }
    }

    /**
     * The place at a moment; null when the SKU is not listed: it was never preheated, or its sale
     * is over.
     */
    static @Nullable SkuPlace of(ProductRow product, Instant now) {
      SaleState state = product.state();
      if (state == SaleState.NEW || state == SaleState.CLOSED || !product.closesAt().isAfter(now)) {
        return null;
      }
      boolean begun = state != SaleState.PREHEATED && !product.opensAt().isAfter(now);
      Group group =
          !begun
              ? Group.COMING
              : product.stock() == 0
                  ? Group.SOLD_OUT
                  : state == SaleState.PAUSED ? Group.PAUSED : Group.ON_SALE;
      Instant at = begun ? product.closesAt() : product.opensAt();
      return new SkuPlace(group, at.toEpochMilli(), product.skuId());
    }

    String cursor() {
      return group + "-" + atMs + "-" + skuId;
    }

    /** The place whose cursor this is. Throws ProblemException 400 naming cursor. */
    static SkuPlace ofCursor(String cursor) {
      Matcher parts = CURSOR.matcher(cursor);
      if (!parts.matches()) {
        throw ProblemException.invalid("cursor", "cursor must be the next of an earlier page.");
      }
      return new SkuPlace(
          Group.valueOf(parts.group(1)),
          Long.parseLong(parts.group(2)),
          Long.parseLong(parts.group(3)));
    }
  }
}
