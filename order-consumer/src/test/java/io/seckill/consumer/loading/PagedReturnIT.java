package io.seckill.consumer.loading;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.fallback.FallbackFixture;
import io.seckill.consumer.loading.SaleLoader.Loaded;
import io.seckill.consumer.loading.SaleLoader.Replacing;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A return during which MySQL sells more than is read at once. */
@ExtendWith(TestServers.class)
class PagedReturnIT {

  private static final int ORDERS = 6_000;

  /** MySQL returns no more rows of a statement than a page has. */
  @AutoClose
  private static final TestConsumer consumer =
      TestConsumer.start(
          Map.of(
              "seckill.fallback",
              "automatic",
              "pause.fallbackControlSweeper",
              "50ms",
              "spring.datasource.hikari.connection-init-sql",
              "SET SESSION sql_select_limit = 5000, time_zone = '+00:00'"));

  private final AdmittedSale sale =
      new AdmittedSale(consumer, 33_001, PurchasePolicy.LIMITED, 5, 20);

  @Test
  void findsWhatWasSoldMeanwhilePageByPage() throws SQLException {
    FallbackFixture fallback = new FallbackFixture(consumer);
    fallback.enterWith(1, "");
    sale.forget();
    try (Connection loading = fallback.loadingElsewhere(sale.sku)) {
      consumer.update("UPDATE products SET fallback = 'LOADING' WHERE sku_id = ?", sale.sku);
      AtomicBoolean isSold = new AtomicBoolean();

      Optional<Loaded> loaded =
          consumer
              .bean(SaleLoader.class)
              .load(
                  sale.sku,
                  fallback.number(sale.sku, "epoch"),
                  Replacing.ANYTHING,
                  () -> {
                    if (isSold.compareAndSet(false, true)) { // after the first snapshot
                      fallback.sell(sale.sku, ORDERS, 1_000);
                    }
                  });

      assertThat(loaded.map(Loaded::orders)).contains(ORDERS);
      assertThat(loading.isValid(1)).isTrue();
    }
    assertThat(sale.field("admittedOrders")).isEqualTo(Integer.toString(ORDERS));
    assertThat(sale.quota(100_000 + ORDERS - 1)).isOne();
    fallback.assertStoresAgree(sale.sku);
  }
}
