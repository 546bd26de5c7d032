package io.seckill.consumer.payment;

import io.seckill.common.payment.PaymentProvider;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.PaymentProviderContract;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.OptionalLong;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class SimulatedPaymentProviderIT extends PaymentProviderContract {

  private static final long DECLINED_FROM = 500_000;

  private final PaymentProvider provider =
      new SimulatedPaymentProvider(
          TestConsumer.shared().sql(),
          new PaymentProperties(Duration.ofMinutes(30), "installed", null, DECLINED_FROM));

  @Override
  protected PaymentProvider provider() {
    return provider;
  }

  @Override
  protected OptionalLong declinedCents() {
    return OptionalLong.of(DECLINED_FROM);
  }
}
