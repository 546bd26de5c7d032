package io.seckill.gateway.catalogue;

import io.seckill.common.sale.SaleState;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Objects;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * The public view of a SKU: its product from MySQL and its sale from Redis, both cached in memory.
 * Redis is never queried for a SKU that does not exist, nor for a strong sale.
 */
@Component
final class SkuPages {

  private static final long NEARLY_GONE = 10;

  private final ProductCache products;
  private final SaleStockCache sales;

  SkuPages(ProductCache products, SaleStockCache sales) {
    this.products = products;
    this.sales = sales;
  }

  /**
   * The page; 404 UNKNOWN_SKU when MySQL has no such product, 503 when a store has not answered for
   * so long that the cached data is too old.
   */
  Mono<SkuPage> of(long skuId) {
    return products
        .find(skuId)
        .switchIfEmpty(Mono.error(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU)))
        .flatMap(
            product ->
                sales
                    .of(List.of(product))
                    .map(found -> page(product, Objects.requireNonNull(found.get(skuId)))));
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
        product.state().name(),
        open,
        left <= 0,
        left > 0 && left <= product.initialStock() / NEARLY_GONE);
  }
}
