package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.payment.PaymentProvider.Charge;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/** The behaviour of a provider that also reports its charges by callbacks. */
public abstract class ReportingProviderContract extends PaymentProviderContract {

  private final OrderId order =
      new OrderId(ThreadLocalRandom.current().nextLong(1L << 40, Long.MAX_VALUE));

  /**
   * The body of the callback that the provider sends about the charge of an order; each call is
   * another sending.
   */
  protected abstract String callbackFor(OrderId charged);

  @Test
  void reportsTheChargeThatItHasReturned() {
    Charge charge = provider().charge(order, acceptedCents());

    String chargeId = ((Charge.Charged) charge).chargeId();
    for (String body : List.of(callbackFor(order), callbackFor(order))) {
      assertThat(body.replaceAll("\\s", ""))
          .contains("\"type\":\"CHARGED\"")
          .contains("\"orderId\":\"" + order + "\"")
          .contains("\"chargeId\":\"" + chargeId + "\"")
          .containsPattern("\"amountCents\":" + acceptedCents() + "[,}]")
          .containsPattern("\"eventId\":\"[\\x21-\\x7e]{1,64}\"")
          .as("named only for money in another currency than the agreed one")
          .doesNotContain("\"currency\"");
    }
  }
}
