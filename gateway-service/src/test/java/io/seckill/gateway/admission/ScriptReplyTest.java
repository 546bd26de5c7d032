package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.admission.Admission.Admitted;
import io.seckill.gateway.admission.Admission.Aliased;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.admission.AdmitReply.ScriptReply;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ScriptReplyTest {

  private static final OrderId SENT = OrderId.of(1_790_000_000_000L, 9, 1, 1);
  private static final OrderId FIRST = OrderId.of(1_790_000_000_000L, 9, 1, 2);
  private static final String MESSAGE = "{\"v\":1,\"requestId\":\"a|{b\"}";
  private static final PurchaseAttempt ATTEMPT =
      new PurchaseAttempt(1_001, 7, "key-0001", true, 2, null);

  private record Case(String text, Admission outcome, boolean hasMessage, boolean isQueued) {}

  static List<Case> replies() {
    String repeat = "S|" + FIRST + "|";
    Repeated third = new Repeated(FIRST, OrderStatus.QUEUED, 3);
    return List.of(
        new Case("A|12", new Admitted(SENT, 12), false, false),
        new Case("A|12|" + MESSAGE, new Admitted(SENT, 12), true, false),
        new Case(repeat + "4|7|2|7|99|3|Q|", third, false, true),
        new Case(repeat + "4|7|2|7|99|3|Q||" + MESSAGE, third, true, true),
        new Case(repeat + "4|7|2|7|99|3|Q|120|" + MESSAGE, third, true, true),
        new Case(
            repeat + "9|7|2|7|99|3|Q|", new Repeated(FIRST, OrderStatus.QUEUED, 1), false, true),
        new Case(
            repeat + "9|7|2|7|99|3|C|150",
            new Repeated(FIRST, OrderStatus.CONFIRMED, 0),
            false,
            false),
        new Case(repeat + "9|", new Repeated(FIRST, OrderStatus.QUEUED, 1), false, false),
        new Case(repeat + "9|7|2|7|99|3|RA|150|" + SENT, new Aliased(FIRST), false, false),
        new Case(repeat + "9|broken", Unknown.BROKEN_DATA, false, false),
        new Case("O", Refusal.SOLD_OUT, false, false),
        new Case("E", Unknown.OLD_EPOCH, false, false));
  }

  @ParameterizedTest
  @MethodSource("replies")
  void isParsedOnce(Case each) {
    ScriptReply reply = ScriptReply.parse(each.text(), SENT);

    assertThat(reply.outcome()).isEqualTo(each.outcome());
    assertThat(reply.message()).isEqualTo(each.hasMessage() ? MESSAGE : null);
    assertThat(reply.isAdmitted()).isEqualTo(each.outcome() instanceof Admitted);
    assertThat(reply.stillQueued(ATTEMPT, PurchasePolicy.LIMITED))
        .isEqualTo(
            each.isQueued()
                ? new OrderMessage(
                    FIRST, 7, 1_001, 2, "key-0001", PurchasePolicy.LIMITED, 3, 7, 99, null)
                : null);
  }

  @Test
  void refusesACodeThatTheScriptDoesNotHave() {
    assertThatThrownBy(() -> ScriptReply.parse("X", SENT))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("disagree: X");
  }
}
