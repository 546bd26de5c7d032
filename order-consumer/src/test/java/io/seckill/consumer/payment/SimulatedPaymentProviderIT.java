package io.seckill.consumer.payment;

import io.seckill.common.payment.PaymentProvider;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.PaymentProviderContract;
import io.seckill.testing.TestServers;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class SimulatedPaymentProviderIT extends PaymentProviderContract {

  private static final long DECLINED_FROM = 500_000;

  @AutoClose
  private static final TestConsumer consumer =
      TestConsumer.start(
          Map.of("seckill.payment.simulated-decline-from-cents", "" + DECLINED_FROM));

  @Override
  protected PaymentProvider provider() {
    return consumer.bean(PaymentProvider.class);
  }

  @Override
  protected OptionalLong declinedCents() {
    return OptionalLong.of(DECLINED_FROM);
  }
}
