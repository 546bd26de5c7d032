package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("proof")
@ExtendWith(TestServers.class)
class PaymentTermsTableIT {

  @Test
  void tellsGatewaysTheTimeOutOfTheLatestStart() {
    try (TestConsumer first = TestConsumer.start(Map.of("seckill.payment.timeout", "7m"))) {
      assertThat(timeoutMs(first)).isEqualTo(420_000);
      first.another(Map.of("seckill.payment.timeout", "1h")).close();
      assertThat(timeoutMs(first)).isEqualTo(3_600_000);
    }
  }

  private static long timeoutMs(TestConsumer consumer) {
    return consumer.number("SELECT timeout_ms FROM payment_terms");
  }
}
