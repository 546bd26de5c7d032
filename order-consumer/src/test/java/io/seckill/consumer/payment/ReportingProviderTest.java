package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider;
import io.seckill.common.payment.PaymentProvider.Charge;
import io.seckill.consumer.payment.PaymentCallbackController.Event;
import io.seckill.support.web.StrictJson;
import io.seckill.testing.ReportingProviderContract;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ReportingProviderTest extends ReportingProviderContract {

  private static final String SECRET = "secret-of-the-provider-0123456789abcdef";

  private final CallbackSignature signatures =
      new CallbackSignature(
          new PaymentProperties(Duration.ofMinutes(30), "installed", SECRET, null),
          Clock.systemUTC());
  private final ReportingProvider provider = new ReportingProvider(SECRET);

  @Override
  protected PaymentProvider provider() {
    return provider;
  }

  @Override
  protected OptionalLong declinedCents() {
    return OptionalLong.of(ReportingProvider.DECLINED_CENTS);
  }

  @Override
  protected String callbackFor(OrderId charged) {
    return provider.report(charged).body();
  }

  @Test
  void orderConsumerReadsWhatTheContractAllows() {
    OrderId order = new OrderId(4_711);
    Charge.Charged charge = (Charge.Charged) provider.charge(order, 9_900);

    SignedCallback callback = provider.report(order);

    byte[] body = callback.body().getBytes(StandardCharsets.UTF_8);
    assertThat(signatures.isValid(callback.timestamp(), callback.signature(), body)).isTrue();
    assertThat(StrictJson.read(body, Event.class).report())
        .isEqualTo(
            new ChargeReport(
                ChargeReport.ReportKind.CHARGED, charge.chargeId(), order, 9_900, null));
  }
}
