package io.seckill.gateway.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PagesPropertiesTest {

  @Test
  void amountsAreInCents() {
    assertThat(new PagesProperties("EUR").currency()).isEqualTo("EUR");
  }

  /** They have no decimals, three, and none that are defined. */
  @ParameterizedTest
  @ValueSource(strings = {"JPY", "KWD", "XAU", "usd", ""})
  void otherCurrenciesAreRefused(String currency) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new PagesProperties(currency))
        .withMessageStartingWith("seckill.pages.currency");
  }
}
