package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.payment.ChargeJudge.Verdict;
import io.seckill.support.contract.OrderRow;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChargeJudgeTest {

  private static final OrderId ORDER = new OrderId(1L << 40);
  private static final OrderId OTHER = new OrderId(2L << 40);

  /**
   * A charge c.
   *
   * @param kept the charge that has paid for the order
   * @param owner whether c was first reported for this order or another one
   */
  @ParameterizedTest(name = "{0}, paid by {1}, c of {2}, contradicted {3}: {4}")
  @CsvSource(
      nullValues = "-",
      value = {
        "CONFIRMED, -, ORDER, false, PAYS",
        "CONFIRMED, -, ORDER, true,  CONTRADICTED",
        "CONFIRMED, -, OTHER, false, OF_OTHER_ORDER",
        "CONFIRMED, -, OTHER, true,  OF_OTHER_ORDER",
        "PAID,      c, ORDER, false, HAS_PAID",
        "PAID,      c, ORDER, true,  HAS_PAID",
        "PAID,      c, OTHER, false, HAS_PAID",
        "PAID,      d, ORDER, false, SECOND_CHARGE",
        "PAID,      d, ORDER, true,  SECOND_CHARGE",
        "PAID,      d, OTHER, false, OF_OTHER_ORDER",
        "CANCELLED, -, ORDER, false, REFUND",
        "CANCELLED, -, ORDER, true,  REFUND",
        "CANCELLED, -, OTHER, false, REFUND",
        "EXPIRED,   -, ORDER, false, REFUND",
        "REJECTED,  -, ORDER, false, REFUND",
      })
  void decidesByWhatIsKnownOfTheCharge(
      OrderStatus status, String kept, String owner, boolean contradicted, Verdict expected) {
    ChargeJudge judge =
        new ChargeJudge(
            Map.of("c", owner.equals("ORDER") ? ORDER : OTHER),
            contradicted ? Set.of("c") : Set.of(),
            kept == null ? Map.of() : Map.of(ORDER, kept));

    assertThat(judge.judge(order(ORDER, status), "c")).isEqualTo(expected);
  }

  @Test
  void oneOfTwoChargesInTheSameTransactionPays() {
    ChargeJudge judge = new ChargeJudge(Map.of("c", ORDER, "d", ORDER), Set.of(), Map.of());
    OrderRow order = order(ORDER, OrderStatus.CONFIRMED);

    assertThat(judge.judge(order, "c")).isEqualTo(Verdict.PAYS);
    assertThat(judge.judge(order, "d")).isEqualTo(Verdict.SECOND_CHARGE);
    assertThat(judge.judge(order, "c")).isEqualTo(Verdict.HAS_PAID);
  }

  @Test
  void oneChargePaysForOneOfTwoOrdersInTheSameTransaction() {
    ChargeJudge judge = new ChargeJudge(Map.of("c", ORDER), Set.of(), Map.of());

    assertThat(judge.judge(order(OTHER, OrderStatus.CONFIRMED), "c"))
        .isEqualTo(Verdict.OF_OTHER_ORDER);
    assertThat(judge.judge(order(ORDER, OrderStatus.CONFIRMED), "c")).isEqualTo(Verdict.PAYS);
  }

  private static OrderRow order(OrderId id, OrderStatus status) {
    Instant now = Instant.EPOCH;
    return new OrderRow(id, 7, 1, 1, 9_900, "key", status, null, now, now, now);
  }
}
