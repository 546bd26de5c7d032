package io.seckill.consumer.strong;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.testing.ConsumerAlone;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.testing.TestServers;
import java.util.Collections;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Purchases of strong sales over HTTP, while neither Redis nor the broker answers. */
@ExtendWith(TestServers.class)
class StrongPurchaseControllerIT {

  private static final long SKU = 23_001;
  private static final String GOOD =
      "{'skuId':23001,'userId':7,'requestId':'key-00000001','quantity':1}";

  private static ConsumerAlone alone;
  private static InternalApi api;

  @BeforeAll
  static void start() {
    alone = ConsumerAlone.start(Map.of());
    api = alone.consumer().api();
    new Sales(alone.consumer()).openStrong(SKU, "LIMITED", 2, 100);
  }

  @AfterAll
  static void stop() {
    alone.close();
  }

  @Test
  void answersEachPurchaseInItsPlace() {
    String other = GOOD.replace("23001", "23002");
    String repeated = GOOD.replace("}", ",'traceparent':null}");

    Answer answer = post("{'purchases':[" + other + ',' + GOOD + ',' + repeated + "]}");

    assertThat(answer.status()).isEqualTo(200);
    String id = answer.body().path("outcomes").path(1).path("orderId").stringValue();
    assertThat(answer.text())
        .isEqualTo(
            ("{'outcomes':[{'outcome':'UNKNOWN_SKU','orderId':null,'status':null},"
                    + "{'outcome':'CONFIRMED','orderId':'%s','status':'CONFIRMED'},"
                    + "{'outcome':'REPEATED','orderId':'%s','status':'CONFIRMED'}]}")
                .replace('\'', '"')
                .formatted(id, id));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ' ',
      quoteCharacter = '"',
      value = {
        ":7 :0 userId",
        ":7 :9223372036854775808 userId",
        ":7 :7.5 userId",
        "23001 0 skuId",
        "23001 9007199254740992 skuId",
        ":1} :0} quantity",
        ":1} :10001} quantity",
        "key-00000001 short requestId",
        "key-00000001 key.00000001 requestId",
        "} ,'traceparent':'00'} traceparent",
        "} ,'price':1} price"
      })
  void refusesWhatIsOutOfBounds(String old, String bad, String field) {
    String wrong = GOOD.replace(old, bad);

    Answer refused = post("{'purchases':[" + GOOD.replace(":7", ":8") + ',' + wrong + "]}");

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.field()).isEqualTo(field);
    assertNothingOf(8);
  }

  @ParameterizedTest
  @CsvSource({"[]", "[null]", "null", "{}", "7"})
  void refusesWhatIsNoList(String purchases) {
    Answer refused = post("{'purchases':" + purchases + '}');

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.field()).isEqualTo("purchases");
  }

  @Test
  void takes64AtOnceAndNoMore() {
    String many = String.join(",", Collections.nCopies(64, GOOD.replace(":7", ":9")));

    assertThat(post("{'purchases':[" + many + "]}").status()).isEqualTo(200);
    assertThat(post("{'purchases':[" + many + ',' + GOOD + "]}").field()).isEqualTo("purchases");
  }

  @Test
  void isForGatewaysAlone() {
    Answer refused =
        api.with("Authorization", "Bearer wrong")
            .post("/internal/v1/purchases", "{\"purchases\":[]}");

    assertThat(refused.status()).isEqualTo(401);
  }

  private static Answer post(String body) {
    return api.post("/internal/v1/purchases", body.replace('\'', '"'));
  }

  private static void assertNothingOf(long user) {
    assertThat(
            new StoredInvariants(alone.consumer().sql())
                .number("SELECT COUNT(*) FROM orders WHERE user_id = " + user))
        .isZero();
  }
}
