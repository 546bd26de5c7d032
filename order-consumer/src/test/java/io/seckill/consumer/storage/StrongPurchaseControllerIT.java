package io.seckill.consumer.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.testing.ConsumerAlone;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Purchases of strong sales over HTTP, while neither Redis nor the broker answers. */
@ExtendWith(TestServers.class)
class StrongPurchaseControllerIT {

  private static final long SKU = 23_001;
  private static final String GOOD =
      "{'skuId':23001,'userId':7,'requestId':'key-00000001','quantity':1}";

  private static final TestConsumer consumer = ConsumerAlone.shared().consumer();
  private static final InternalApi api = consumer.api();

  @BeforeAll
  static void open() {
    new Sales(consumer).openStrong(SKU, "LIMITED", 2, 100);
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
}
