package io.seckill.consumer.products;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleState;
import java.time.Instant;
import org.springframework.test.util.ReflectionTestUtils;

/** Products that no database has. */
public final class ProductInPhase {

  private ProductInPhase() {}

  public static Product open(long skuId, SalePhase phase, long stateVersion) {
    return open(skuId, phase, stateVersion, 1);
  }

  public static Product open(long skuId, SalePhase phase, long stateVersion, int shards) {
    Product product =
        new Product(
            skuId,
            new ProductRules(
                "Phone",
                9_900,
                500,
                PurchasePolicy.LIMITED,
                2,
                Decider.REDIS,
                Instant.parse("2026-01-01T00:00:00Z"),
                Instant.parse("2036-01-01T00:00:00Z"),
                shards));
    ReflectionTestUtils.setField(product, "state", SaleState.OPEN);
    ReflectionTestUtils.setField(product, "phase", phase);
    ReflectionTestUtils.setField(product, "stateVersion", stateVersion);
    return product;
  }
}
