package io.seckill.gateway.catalogue;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleState;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/**
 * The public page of a SKU: its product from MySQL and its sale from Redis, both cached in memory.
 * Redis is never queried for a SKU that does not exist, nor for a strong sale.
 */
@RestController
final class SkuPageController {

  private static final long NEARLY_GONE = 10;

  private final ProductCache products;
  private final SaleStockCache sales;
  private final Clock clock = Clock.systemUTC();

  SkuPageController(ProductCache products, SaleStockCache sales) {
    this.products = products;
    this.sales = sales;
  }

  /** The page at this moment, with the server's time for countdowns. */
  record Shown(@JsonUnwrapped SkuPage page, boolean onSale, Instant serverTime) {}

  @GetMapping("/api/v1/skus/{sku}")
  Mono<Shown> show(@PathVariable String sku) {
    return page(PathIds.sku(sku))
        .map(
            page -> {
              Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
              return new Shown(page, page.onSaleAt(now), now);
            });
  }

  /**
   * The page; 404 UNKNOWN_SKU when MySQL has no such product, 503 when a store has not answered for
   * so long that the cached data is too old.
   */
  private Mono<SkuPage> page(long skuId) {
    return products
        .find(skuId)
        .switchIfEmpty(Mono.error(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU)))
        .flatMap(
            product ->
                sales
                    .of(List.of(product))
                    .mapNotNull(found -> found.get(skuId))
                    .switchIfEmpty(Mono.error(SkuPageController::redisUnavailable))
                    .map(sale -> page(product, sale)));
  }

  private static ProblemException redisUnavailable() {
    return ProblemException.of(
        ProblemCode.REDIS_UNAVAILABLE,
        "The sale cannot be read at the moment; the request may be repeated.");
  }

  private static SkuPage page(ProductRow product, SaleStockCache.SaleStock sale) {
    long left = sale.stock() == null ? product.stock() : sale.stock();
    // Without a sale in the store that decides it nothing is sold in any state of MySQL.
    boolean open = "OPEN".equals(sale.state()) && product.state() == SaleState.OPEN;
    return new SkuPage(
        product.skuId(),
        product.name(),
        product.priceCents(),
        product.policy(),
        product.limitPerUser(),
        product.decides(),
        product.opensAt(),
        product.closesAt(),
        sale.stateOf(product).name(),
        open,
        left <= 0,
        left > 0 && left <= product.initialStock() / NEARLY_GONE);
  }

  /**
   * The public view of a SKU.
   *
   * @param limitPerUser units; 0 for no limit
   * @param decides MYSQL for a strong sale
   * @param state of the sale, NEW before the first preheat; a pause or close counts from the store
   *     that has it first
   * @param open whether the sale is open in MySQL, and in Redis if that decides it
   * @param soldOut whether no unit is left to be admitted
   * @param nearlyGone whether at most a tenth of the units is left, but one at least
   */
  record SkuPage(
      long skuId,
      String name,
      long priceCents,
      PurchasePolicy policy,
      int limitPerUser,
      Decider decides,
      Instant opensAt,
      Instant closesAt,
      String state,
      @JsonIgnore boolean open,
      boolean soldOut,
      boolean nearlyGone) {

    /** Whether a purchase may succeed at this moment. */
    boolean onSaleAt(Instant now) {
      return open && !soldOut && !now.isBefore(opensAt) && now.isBefore(closesAt);
    }
  }
}
