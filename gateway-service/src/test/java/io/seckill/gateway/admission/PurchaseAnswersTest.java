package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.admission.Admission.Busy;
import io.seckill.gateway.admission.Admission.Stored;
import io.seckill.gateway.web.HttpAnswer;
import io.seckill.gateway.web.HttpAnswer.Header;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class PurchaseAnswersTest {

  private static final OrderId ID = OrderId.of(1_790_000_000_000L, 5, OrderId.MYSQL_WORKER, 1);

  /** A primary that is lost needs some seconds; what only moves arrives within one. */
  @ParameterizedTest
  @CsvSource({"BRIEFLY, 1", "WITHOUT_A_SHARD, 5"})
  void aBusyAnswerNamesOneTimeToRepeatIt(Busy outcome, String seconds) {
    PurchaseAttempt attempt = new PurchaseAttempt(1_001, 7, "key-00000001", true, 1, null);

    HttpAnswer answer = PurchaseAnswers.of(attempt, outcome, Durability.Store.REDIS, "id");

    assertThat(answer.status()).isEqualTo(503);
    assertThat(answer.headers()).containsExactly(new Header("Retry-After", seconds));
  }

  /** 201 promises an order: Redis may have admitted one that MySQL has refused when it arrived. */
  @ParameterizedTest
  @EnumSource(
      value = OrderStatus.class,
      names = {"CONFIRMED", "PAID", "CANCELLED", "EXPIRED", "REJECTED"})
  void theRepeatOfAStoredOrderIsCreatedUnlessTheOrderWasRejected(OrderStatus status) {
    PurchaseAttempt attempt = new PurchaseAttempt(1_001, 7, "key-00000001", true, 1, null);

    HttpAnswer answer =
        PurchaseAnswers.of(attempt, new Stored(ID, status, true), Durability.Store.REDIS, "id");

    assertThat(answer.status()).isEqualTo(status == OrderStatus.REJECTED ? 202 : 201);
    assertThat(answer.body())
        .isEqualTo(
            "{\"orderId\":\"%s\",\"status\":\"%s\",\"position\":null,\"durableIn\":\"MYSQL\"}"
                .formatted(ID, status));
  }
}
