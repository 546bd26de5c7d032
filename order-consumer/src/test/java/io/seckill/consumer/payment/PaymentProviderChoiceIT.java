package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.payment.PaymentProvider;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("proof")
@ExtendWith(TestServers.class)
class PaymentProviderChoiceIT {

  @Test
  void refusesToStartWithoutAProviderAndWithoutDemoMode() {
    assertThatThrownBy(() -> TestConsumer.start(Map.of("seckill.demo.enabled", "false")))
        .rootCause()
        .hasMessageContaining("seckill.demo.enabled")
        .hasMessageContaining("no payment provider is installed")
        .hasMessageContaining("io.seckill.common.payment.PaymentProvider")
        .hasMessageContaining("docs/payment.md");
  }

  @Test
  void refusesToSimulatePaymentsUnderAProductionProfile() {
    assertThatThrownBy(
            () ->
                TestConsumer.start(
                    Map.of("seckill.demo.enabled", "true", "spring.profiles.active", "prod")))
        .rootCause()
        .hasMessageContaining("production profile");
  }

  @Test
  void prefersTheInstalledProviderToTheSimulatedOne() {
    try (TestConsumer consumer =
        TestConsumer.start(Map.of("seckill.demo.enabled", "true"), LateProvider.class)) {
      assertThat(consumer.bean(PaymentProvider.class)).isInstanceOf(LateProvider.class);
    }
  }

  @Test
  void prefersTheWalletToTheInstalledProviderWhenItIsChosen() {
    try (TestConsumer consumer =
        TestConsumer.start(Map.of("seckill.payment.provider", "wallet"), LateProvider.class)) {
      assertThat(consumer.bean(PaymentProvider.class)).isInstanceOf(ChargesInTransaction.class);
    }
  }
}
