package io.seckill.consumer.wallet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WalletPropertiesTest {

  @Test
  void amountsAreInCents() {
    assertThat(new WalletProperties("EUR").currency()).isEqualTo("EUR");
  }

  /** They have no decimals, three, and none that are defined. */
  @ParameterizedTest
  @ValueSource(strings = {"JPY", "KWD", "XAU", "usd", ""})
  void otherCurrenciesAreRefused(String currency) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new WalletProperties(currency))
        .withMessageStartingWith("seckill.wallet.currency");
  }
}
