package io.seckill.gateway.catalogue;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleState;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
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
record SkuPageController(ProductCache products, SaleStockCache sales) {

  private static final long NEARLY_GONE = 10;

  /**
   * The page; 404 UNKNOWN_SKU when MySQL has no such product, 503 when a store has not answered for
   * so long that the cached data is too old.
   */
  @GetMapping("/api/v1/skus/{sku}")
  Mono<SkuPage> show(@PathVariable String sku) {
    long skuId = PathIds.sku(sku);
    return products
        .find(skuId)
        .switchIfEmpty(Mono.error(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU)))
        .flatMap(
            product ->
                sales
                    .of(List.of(product))
                    .mapNotNull(found -> found.get(skuId))
                    .switchIfEmpty(Mono.error(SkuPageController::redisUnavailable))
                    .map(sale -> page(product, sale, Instant.now())));
  }

  private static ProblemException redisUnavailable() {
    return ProblemException.of(
        ProblemCode.REDIS_UNAVAILABLE,
        "The sale cannot be read at the moment; the request may be repeated.");
  }

  static SkuPage page(ProductRow product, SaleStockCache.SaleStock sale, Instant now) {
    long left = sale.stock() == null ? product.stock() : sale.stock();
    // Without a sale in the store that decides it nothing is sold in any state of MySQL.
    boolean isOpen = "OPEN".equals(sale.state()) && product.state() == SaleState.OPEN;
    boolean isInTime = !now.isBefore(product.opensAt()) && now.isBefore(product.closesAt());
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
        left <= 0,
        left > 0 && left <= product.initialStock() / NEARLY_GONE,
        isOpen && isInTime && left > 0,
        now.truncatedTo(ChronoUnit.MILLIS));
  }

  /**
   * The public view of a SKU.
   *
   * @param limitPerUser units; 0 for no limit
   * @param decides MYSQL for a strong sale
   * @param state of the sale, NEW before the first preheat; a pause or close counts from the store
   *     that has it first
   * @param soldOut whether no unit is left to be admitted
   * @param nearlyGone whether at most a tenth of the units is left, but one at least
   * @param onSale whether a purchase may succeed at this moment
   * @param serverTime for countdowns
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
      boolean soldOut,
      boolean nearlyGone,
      boolean onSale,
      Instant serverTime) {}
}
