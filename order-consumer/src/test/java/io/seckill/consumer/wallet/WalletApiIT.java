package io.seckill.consumer.wallet;

import static java.util.stream.IntStream.rangeClosed;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.support.contract.WalletKind;
import io.seckill.support.contract.WalletOutcome.WalletCode;
import io.seckill.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The internal API of wallets. */
@ExtendWith(TestServers.class)
class WalletApiIT extends WalletBooks {

  @Test
  void operatorsRechargeAdjustFreezeAndRefund() {
    String path = "/internal/v1/wallets/" + user;
    assertAnswer(201, 500, post(path + "/recharges", "recharge-1", 500));
    assertAnswer(200, 500, post(path + "/recharges", "recharge-1", 500));
    assertThat(post(path + "/recharges", "recharge-1", 501).code())
        .isEqualTo("IDEMPOTENCY_KEY_REUSED");
    assertThat(post(path + "/recharges", "order:4711", 5).field())
        .as("the key of an order's charge")
        .isEqualTo("Idempotency-Key");
    assertAnswer(201, 450, post(path + "/adjustments", "adjust-01", -50));
    assertThat(post(path + "/adjustments", "adjust-02", -451).code())
        .isEqualTo("INSUFFICIENT_FUNDS");

    assertThat(consumer.api().put(path + "/state", "{\"state\":\"FROZEN\"}").text("state"))
        .isEqualTo("FROZEN");
    assertThat(charge(5).code()).isEqualTo(WalletCode.WALLET_FROZEN);
    consumer.api().put(path + "/state", "{\"state\":\"ACTIVE\"}");
    assertThat(charge(50).code()).isEqualTo(WalletCode.DONE);

    String refunds = "/internal/v1/wallet/charges/" + charge + "/refunds";
    assertAnswer(201, 430, post(refunds, "refund-01", 30));
    assertAnswer(200, 430, post(refunds, "refund-01", 30));
    assertThat(post(refunds, "refund-02", 21).code()).isEqualTo("REFUND_EXCEEDS_CHARGE");
    assertThat(post("/internal/v1/wallet/charges/1/refunds", "refund-01", 1).code())
        .isEqualTo("UNKNOWN_CHARGE");

    Answer shown = consumer.api().get(path);
    assertThat(shown.number("balanceCents")).isEqualTo(430);
    assertThat(shown.number("seq")).isEqualTo(4);
    assertThat(shown.text("currency")).isEqualTo("USD");
    Answer page = consumer.api().get(path + "/entries?limit=3");
    assertThat(page.body().path("entries")).hasSize(3);
    assertThat(page.number("next")).isEqualTo(2);
    Answer first = consumer.api().get(path + "/entries?before=2&limit=1");
    assertThat(first.body().path("entries")).hasSize(1);
    assertThat(first.body().path("next").isNull()).as("after the last page").isTrue();
    String statement = path + "/statement?to=2099-01-01&from=";
    Answer years = consumer.api().get(statement + "2026-01-01&after=1");
    assertThat(years.body().path("entries").path(0).path("seq")).hasToString("2");
    String lastDay = years.body().at("/entries/2/createdAt").stringValue().substring(0, 10);
    assertThat(
            consumer
                .api()
                .get(path + "/statement?from=2026-01-01&after=1&to=" + lastDay)
                .body()
                .path("entries"))
        .as("the last day is included")
        .hasSize(3);
    Answer later = consumer.api().get(statement + "2098-01-01");
    assertThat(later.number("openingCents")).isEqualTo(430);
    assertThat(later.body().path("entries")).isEmpty();
  }

  @Test
  void aLongStatementHasPages() {
    wallets.execute(
        rangeClosed(1, 501)
            .mapToObj(n -> of(user, WalletKind.RECHARGE, "recharge-" + n, 1, null))
            .toList());
    String statement = "/internal/v1/wallets/" + user + "/statement?from=2026-01-01&to=2099-01-01";

    Answer first = consumer.api().get(statement);
    Answer last = consumer.api().get(statement + "&after=500");

    assertThat(first.body().path("entries")).hasSize(500);
    assertThat(first.number("next")).isEqualTo(500);
    assertThat(last.body().path("entries")).hasSize(1);
    assertThat(last.body().path("next").isNull()).as("after the last page").isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "entries?limit=201, limit",
    "entries?before=0, before",
    "statement?to=2026-01-01, from",
    "statement?from=2026-01-01, to",
    "statement?from=2026-13-01&to=2026-02-01, from",
    "statement?from=2026-02-01&to=2026-01-31, to",
    "statement?from=2026-01-01&to=2026-02-01&after=-1, after",
  })
  void refusesInvalidPages(String page, String field) {
    Answer refused = consumer.api().get("/internal/v1/wallets/" + user + "/" + page);

    assertThat(refused.code()).isEqualTo("INVALID_REQUEST");
    assertThat(refused.field()).isEqualTo(field);
  }

  @Test
  void servicesPostOperationsAndInvalidOnesChangeNothing() {
    String good = operation("request-01", "5");

    assertThat(operations(good + "," + operation("request-02", "1.5")).field())
        .isEqualTo("amountCents");
    assertThat(balance(user)).isZero();
    assertThat(operations(good + "," + good).text())
        .isEqualTo(
            "{\"outcomes\":[{\"code\":\"DONE\",\"seq\":1,\"balanceAfterCents\":5},"
                + "{\"code\":\"REPEATED\",\"seq\":1,\"balanceAfterCents\":5}]}");
  }

  private static void assertAnswer(int status, long balance, Answer answer) {
    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertThat(answer.number("balanceAfterCents")).isEqualTo(balance);
  }
}
