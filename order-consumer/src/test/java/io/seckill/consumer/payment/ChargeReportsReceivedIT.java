package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.testing.RawConnection;
import io.seckill.testing.TestServers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Signed reports of any form are kept. */
@ExtendWith(TestServers.class)
class ChargeReportsReceivedIT extends ReportedCharges {

  /** {@code PaymentCallbackBodyTest} tries the values of each member. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "not JSON",
        "{}",
        "{'eventId':'e','type':'DISPUTED','orderId':'ORDER','chargeId':'c','amountCents':9900}"
      })
  void aSignedReportThatCannotBeReadIsKept(String text) {
    OrderId id = order(SoldBy.REDIS, "CONFIRMED");
    String body = text.replace('\'', '"').replace("ORDER", id.toString());

    Answer refused = callback(body);
    callback(body);

    assertThat(refused.status()).as(refused.text()).isEqualTo(400);
    assertThat(list("OPEN"))
        .singleElement()
        .satisfies(
            row -> {
              assertThat(row.path("reason").stringValue()).isEqualTo("UNREADABLE");
              assertThat(row.path("detail").stringValue()).isEqualTo(body);
            });
  }

  @Test
  void theBeginningOfALongUnreadableReportIsKept() {
    callback("{\"note\":\"" + "\u20ac".repeat(2_000) + "\"}");

    assertThat(list("OPEN").get(0).path("detail").stringValue()).hasSizeBetween(900, 1_000);
  }

  @ParameterizedTest
  @CsvSource({
    "Content-Type, text/plain",
    "Content-Type, application/vnd.acme+json",
    "Content-Type, ''",
    "Content-Type, multipart/form-data",
    "Accept, application/xml",
    "Accept, foo"
  })
  void aSignedReportCountsWithAnyMediaType(String header, String type) {
    OrderId id = order(SoldBy.REDIS, "CONFIRMED");
    String body = body("evt-" + id, id, "CHARGED", "c-" + id, PRICE);

    assertThat(callback(api.with(header, type), body).status()).isEqualTo(200);

    assertThat(status(id)).isEqualTo("PAID");
  }

  /** They need no secret until their bodies are whole. */
  @Tag("proof")
  @Test
  void sendersThatAreSlowKeepNoReportWaiting() {
    double refused = consumer.counter("seckill.consumer.payment.callbacks.refused");
    OrderId id = order(SoldBy.REDIS, "CONFIRMED");
    List<RawConnection> slow = new ArrayList<>();
    try {
      for (int i = 0; i < 40; i++) {
        slow.add(beginCallback("Content-Length: 100"));
      }
      slow.add(beginCallback("Connection: close\r\nContent-Length: 100"));
      slow.add(beginCallback("Transfer-Encoding: chunked"));

      for (int i = 0; i < 20; i++) {
        Answer answer = report(id, "CHARGED c 9900");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      }

      RawConnection whole = beginCallback("Content-Length: 100"); // last: its time runs from here
      slow.add(whole);
      whole.send(" ".repeat(99));
      assertThat(whole.answer()).as("whole in time, and not signed").startsWith("HTTP/1.1 401");
      for (RawConnection one : slow.subList(0, slow.size() - 1)) {
        assertThat(one.answer()).as("never whole").startsWith("HTTP/1.1 503");
      }
    } finally {
      slow.forEach(RawConnection::close);
    }
    assertThat(consumer.counter("seckill.consumer.payment.callbacks.refused"))
        .isEqualTo(refused + slow.size());
  }

  /** Or a sender of many who reads no answer would keep the thread that writes. */
  @Test
  void aSenderOfCallbacksGetsOneAnswerPerConnection() {
    try (RawConnection sender = beginCallback("Content-Length: 1")) {
      assertThat(sender.untilClosed()).startsWith("HTTP/1.1 401");
    }
  }

  /** With the first byte of its body, which may be a chunk of its own. */
  private static RawConnection beginCallback(String headers) {
    RawConnection sender = new RawConnection(consumer.port());
    sender.send(
        "POST /internal/v1/payments/callback HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n%s"
            .formatted(headers, headers.contains("chunked") ? "1\r\n{\r\n" : "{"));
    return sender;
  }
}
