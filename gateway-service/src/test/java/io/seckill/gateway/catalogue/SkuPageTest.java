package io.seckill.gateway.catalogue;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.gateway.catalogue.SkuPageController.SkuPage;
import java.time.Instant;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SkuPageTest {

  /** From the opening, to the millisecond before the closing. */
  @ParameterizedTest
  @CsvSource({
    "2026-11-26T09:59:59.999Z, true, false, false",
    "2026-11-26T10:00:00Z, true, false, true",
    "2026-11-26T10:00:00Z, false, false, false",
    "2026-11-26T10:00:00Z, true, true, false",
    "2026-11-26T11:59:59.999Z, true, false, true",
    "2026-11-26T12:00:00Z, true, false, false"
  })
  void isOnSaleBetweenItsTimes(Instant now, boolean open, boolean soldOut, boolean onSale) {
    SkuPage page =
        new SkuPage(
            1001,
            "Phone",
            9_900,
            PurchasePolicy.LIMITED,
            2,
            Decider.REDIS,
            Instant.parse("2026-11-26T10:00:00Z"),
            Instant.parse("2026-11-26T12:00:00Z"),
            "OPEN",
            open,
            soldOut,
            false);

    assertThat(page.onSaleAt(now)).isEqualTo(onSale);
  }
}
