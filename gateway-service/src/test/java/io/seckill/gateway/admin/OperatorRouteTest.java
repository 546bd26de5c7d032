package io.seckill.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.gateway.admin.OperatorRoute.Target;
import io.seckill.gateway.admin.OperatorRoute.Trait;
import io.seckill.support.web.ProblemException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.web.bind.annotation.RequestMethod;

class OperatorRouteTest {

  @ParameterizedTest
  @CsvSource({
    "LEDGER, sku, 17, /skus/17/ledger, sku=17",
    "PREHEAT, sku, 17, /skus/17/preheat, sku=17",
    "ORDER, order, 9, /orders/9, order=9",
    "REPLAY, id, 9, /dead-letters/9/replay, deadLetter=9",
    "CLOSE_CHARGE, id, 9, /unexplained-charges/9/close, unexplainedCharge=9",
    "RECHARGE, user, 9223372036854775807, /wallets/9223372036854775807/recharges,"
        + " user=9223372036854775807",
    "REFUND_CHARGE, charge, 9, /wallet/charges/9/refunds, charge=9",
    "CHECK_WALLETS, other, 9, /wallet/check, wallets",
    "ENTER_FALLBACK, other, 9, /fallback/enter, fallback"
  })
  void namesItsObject(OperatorRoute route, String name, String id, String path, String subject) {
    assertThat(route.target(Map.of(name, id))).isEqualTo(new Target(path, subject));
  }

  /** The id is text of the caller: it becomes part of a path and of a line of the audit log. */
  @ParameterizedTest
  @CsvSource({
    "OPEN, sku, 1/close",
    "OPEN, sku, -1",
    "OPEN, sku, 01",
    "DISCARD, id, ../1",
    "ORDER, order, 1/payment",
    "WALLET, user, 0",
    "RECHARGE, user, 9223372036854775808",
    "RECHARGE, user, 10000000000000000000",
    "REFUND_CHARGE, charge, 1e3"
  })
  void refusesAnIdThatIsNoNumber(OperatorRoute route, String name, String id) {
    assertThatThrownBy(() -> route.target(Map.of(name, id))).isInstanceOf(ProblemException.class);
  }

  @ParameterizedTest
  @EnumSource
  void auditsEveryWrite(OperatorRoute route) {
    assertThat(route.action().isEmpty()).isEqualTo(route.method() == RequestMethod.GET);
  }

  @Test
  void waitsLongForCallsThatReadManyRowsOrWaitForOrders() {
    assertThat(OperatorRoute.values())
        .filteredOn(route -> route.has(Trait.LONG))
        .containsExactlyInAnyOrder(
            OperatorRoute.PUT_PRODUCT,
            OperatorRoute.PREHEAT,
            OperatorRoute.RECONCILE,
            OperatorRoute.AUDIT,
            OperatorRoute.ARCHIVE,
            OperatorRoute.CHECK_WALLETS);
  }
}
