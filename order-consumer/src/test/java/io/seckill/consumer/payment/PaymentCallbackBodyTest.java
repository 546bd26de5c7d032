package io.seckill.consumer.payment;

import static io.seckill.consumer.testing.RequestBodies.refused;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.payment.PaymentCallbackController.Event;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PaymentCallbackBodyTest {

  private static final String GOOD =
      "{'eventId':'e','type':'CHARGED','orderId':'7','chargeId':'c','amountCents':9900}";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "'eventId':'e',   |                    | eventId",
        "'e'              | ''                 | eventId",
        "CHARGED          | DISPUTED           | type",
        "'7'              | 7                  | orderId",
        "'7'              | 'x-1'              | orderId",
        "'c'              | 'c d'              | chargeId",
        ",'amountCents':9900 |                 | amountCents",
        "9900             | '9900'             | amountCents",
        "9900             | 99.00              | amountCents",
        "9900             | -1                 | amountCents",
        "9900             | 9900,'fee':1       | fee",
        "9900             | 9900,'currency':'euro' | currency"
      })
  void namesTheMemberThatIsWrong(String part, String bad, String member) {
    assertThat(refused(GOOD.replace(part, bad == null ? "" : bad), Event.class)).isEqualTo(member);
  }
}
