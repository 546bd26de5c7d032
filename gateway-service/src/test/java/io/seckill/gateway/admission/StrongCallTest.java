package io.seckill.gateway.admission;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.admission.Admission.Busy;
import io.seckill.gateway.admission.Admission.Stored;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongPurchases.Decisions;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.StrictJson;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class StrongCallTest {

  private static final OrderId ID = OrderId.of(1_790_000_000_000L, 5, OrderId.MYSQL_WORKER, 1);

  @Test
  void readsOutcomesInTheOrderOfThePurchases() {
    List<StrongDecision> answered =
        read(
            """
            [{"outcome":"CONFIRMED","orderId":"%1$s","status":"CONFIRMED"},
             {"outcome":"REPEATED","orderId":"%1$s","status":"PAID"},
             {"outcome":"BUSY","orderId":null,"status":null},
             {"outcome":"UNKNOWN","orderId":null,"status":null}]"""
                .formatted(ID));

    assertThat(StrongCall.outcomes(answered))
        .isEqualTo(
            List.of(
                new Stored(ID, OrderStatus.CONFIRMED, false),
                new Stored(ID, OrderStatus.PAID, true),
                Busy.BRIEFLY,
                Unknown.MYSQL));
  }

  @ParameterizedTest
  @EnumSource(Refusal.class)
  void knowsEveryRefusalByItsName(Refusal refusal) {
    List<StrongDecision> answered =
        read("[{\"outcome\":\"" + refusal + "\",\"orderId\":null,\"status\":null}]");

    assertThat(StrongCall.outcomes(answered)).containsExactly(refusal);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "\"CONFIRMED\"",
        "[{}]",
        "[null]",
        "[{\"outcome\":null}]",
        "[{\"outcome\":7}]",
        "[{\"outcome\":\"SOLD\"}]",
        "[{\"outcome\":\"CONFIRMED\",\"orderId\":null,\"status\":null}]",
        "[{\"outcome\":\"CONFIRMED\",\"orderId\":\"x\",\"status\":\"CONFIRMED\"}]",
        "[{\"outcome\":\"CONFIRMED\",\"orderId\":\"ID\",\"status\":\"REJECTED\"}]",
        "[{\"outcome\":\"CONFIRMED\",\"orderId\":\"ID\",\"status\":\"PAID\"}]",
        "[{\"outcome\":\"REPEATED\",\"orderId\":\"ID\",\"status\":\"SOLD\"}]",
        "[{\"outcome\":\"REPEATED\",\"orderId\":\"251117339148419079\",\"status\":\"PAID\"}]",
      })
  void takesNothingElseForOutcomes(String answered) {
    String text = answered.replace("ID", ID.toString());

    assertThatThrownBy(() -> StrongCall.outcomes(read(text)))
        .isInstanceOfAny(
            ProblemException.class, IllegalArgumentException.class, NullPointerException.class);
  }

  private static List<StrongDecision> read(String outcomes) {
    String json = "{\"outcomes\":" + outcomes + '}';
    return StrictJson.read(json.getBytes(UTF_8), Decisions.class).outcomes();
  }
}
