package io.seckill.gateway.catalogue;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.catalogue.SaleStockCache.SaleStock;
import io.seckill.gateway.catalogue.SkuPageController.SkuPage;
import io.seckill.gateway.testing.TestProductRow;
import io.seckill.support.contract.ProductRow;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SkuPageTest {

  /** From the opening, to the millisecond before the closing. */
  @ParameterizedTest
  @CsvSource({
    "2026-11-26T09:59:59.999Z, OPEN, 5, false",
    "2026-11-26T10:00:00Z, OPEN, 5, true",
    "2026-11-26T10:00:00Z, PAUSED, 5, false",
    "2026-11-26T10:00:00Z, OPEN, 0, false",
    "2026-11-26T11:59:59.999Z, OPEN, 5, true",
    "2026-11-26T12:00:00Z, OPEN, 5, false"
  })
  void isOnSaleBetweenItsTimes(Instant now, String stateInRedis, long left, boolean onSale) {
    ProductRow product =
        TestProductRow.of(1001)
            .times(Instant.parse("2026-11-26T10:00:00Z"), Instant.parse("2026-11-26T12:00:00Z"))
            .row();

    SkuPage page = SkuPageController.page(product, new SaleStock(stateInRedis, left), now);

    assertThat(page.onSale()).isEqualTo(onSale);
    assertThat(page.serverTime()).isEqualTo(now);
  }
}
