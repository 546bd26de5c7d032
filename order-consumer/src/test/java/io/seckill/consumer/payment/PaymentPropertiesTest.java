package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PaymentPropertiesTest {

  /** The time to pay and an outage of days, for the start after a restore. */
  @ParameterizedTest
  @ValueSource(strings = {"PT1S", "PT48H30M", "P7D"})
  void anOrderMayWaitForItsPaymentThroughALongOutage(Duration timeout) {
    assertThat(properties(timeout).timeout()).isEqualTo(timeout);
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0.999S", "PT168H0.001S"})
  void refusesATimeoutThatIsOutOfRange(Duration timeout) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> properties(timeout))
        .withMessageStartingWith("seckill.payment.timeout");
  }

  private static PaymentProperties properties(Duration timeout) {
    return new PaymentProperties(timeout, "installed", null, null);
  }
}
