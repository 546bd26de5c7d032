package io.seckill.consumer.testing;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.products.ProductSnapshot;
import java.time.Duration;
import java.time.Instant;

/** Rows of {@code products} that no database has. */
public final class UnstoredProducts {

  private UnstoredProducts() {}

  /** A sale that Redis decides, without orders. */
  public static ProductSnapshot ofSale(
      long skuId, String state, PurchasePolicy policy, long epoch, long stock) {
    return new ProductSnapshot(
        skuId,
        state,
        0,
        policy,
        5,
        SalePhase.REDIS,
        Instant.parse("2026-01-01T00:00:00Z"),
        Instant.parse("2036-01-01T00:00:00Z"),
        epoch,
        stock,
        stock,
        0,
        0,
        0,
        false,
        false,
        100,
        Duration.ofHours(2),
        1);
  }
}
