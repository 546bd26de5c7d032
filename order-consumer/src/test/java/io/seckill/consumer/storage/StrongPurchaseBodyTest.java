package io.seckill.consumer.storage;

import static io.seckill.consumer.testing.RequestBodies.read;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.testing.RequestBodies;
import io.seckill.support.contract.StrongPurchases;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StrongPurchaseBodyTest {

  private static final String GOOD =
      "{'skuId':23001,'userId':7,'requestId':'key-00000001','quantity':1}";

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
  void namesTheMemberThatIsWrong(String old, String bad, String field) {
    assertThat(refused("{'purchases':[" + GOOD + ',' + GOOD.replace(old, bad) + "]}"))
        .isEqualTo(field);
  }

  @ParameterizedTest
  @ValueSource(strings = {"[]", "[null]", "null", "{}", "7"})
  void refusesWhatIsNoList(String purchases) {
    assertThat(refused("{'purchases':" + purchases + '}')).isEqualTo("purchases");
  }

  @Test
  void takes64AtOnceAndNoMore() {
    String many = String.join(",", Collections.nCopies(64, GOOD));

    assertThat(read("{'purchases':[" + many + "]}", StrongPurchases.class).purchases()).hasSize(64);
    assertThat(refused("{'purchases':[" + many + ',' + GOOD + "]}")).isEqualTo("purchases");
  }

  private static String refused(String json) {
    return RequestBodies.refused(json, StrongPurchases.class);
  }
}
