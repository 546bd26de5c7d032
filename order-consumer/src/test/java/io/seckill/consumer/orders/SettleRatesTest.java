package io.seckill.consumer.orders;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SettleRatesTest {

  private static final long NOW = 1_790_000_000_000L;

  private final SettleRates rates = new SettleRates();

  @Test
  void isZeroForASkuWithoutOrders() {
    assertThat(rates.perSecond(1, NOW)).isEqualTo("0.0");
  }

  @Test
  void countsOrdersOfTheLastTenSeconds() {
    rates.add(1, 1_000_000, NOW - 10_500);
    for (int second = 10; second >= 1; second--) {
      rates.add(1, 250, NOW - second * 1_000L);
    }

    assertThat(rates.perSecond(1, NOW)).isEqualTo("250.0");
    assertThat(rates.perSecond(2, NOW)).isEqualTo("0.0");
  }

  @Test
  void showsTheSpeedOfASaleJustBegun() {
    rates.add(1, 6_000, NOW - 2_000);

    assertThat(rates.perSecond(1, NOW)).isEqualTo("3000.0");
  }

  @Test
  void takesOneOrderForNoSpeed() {
    rates.add(1, 1, NOW);

    assertThat(rates.perSecond(1, NOW)).isEqualTo("1.0");
  }

  @Test
  void forgetsSkusThatNobodyBuysAnyMore() {
    for (int sku = 1; sku <= 1_000; sku++) {
      rates.add(sku, 1, NOW);
    }
    rates.add(1_001, 1, NOW + SettleRates.WINDOW_MS);
    rates.add(1_001, 1, NOW + 2 * SettleRates.WINDOW_MS + 1);

    assertThat(rates.skus()).isEqualTo(1);
    assertThat(rates.perSecond(1_001, NOW + 2 * SettleRates.WINDOW_MS + 1)).isNotEqualTo("0.0");
  }
}
