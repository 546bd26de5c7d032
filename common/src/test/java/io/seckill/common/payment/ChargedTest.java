package io.seckill.common.payment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.seckill.common.payment.PaymentProvider.Charge.Charged;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChargedTest {

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "a b", "a\n", "caf\u00e9"})
  void refusesAnIdThatCannotBeStored(String id) {
    assertThatIllegalArgumentException().isThrownBy(() -> new Charged(id));
  }

  @Test
  void takesUpTo64Characters() {
    assertThat(new Charged("c".repeat(64)).chargeId()).hasSize(64);
    assertThatIllegalArgumentException().isThrownBy(() -> new Charged("c".repeat(65)));
  }
}
