package io.seckill.consumer.payment;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.testing.TestServers;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionOperations;
import tools.jackson.databind.JsonNode;

/** Reports that came before their order was stored, or after it was archived. */
@ExtendWith(TestServers.class)
class ChargeReportsEarlyIT extends ReportedCharges {

  @ParameterizedTest
  @ValueSource(strings = {"CONFIRMED PAID CHARGED", "REJECTED REJECTED REFUNDED"})
  void aReportThatCameBeforeItsOrderIsJudgedOnceTheOrderIsStored(String expected) {
    String[] words = expected.split(" ", -1);
    OrderId stored = order(SoldBy.REDIS, words[0]);
    moveAway(stored);
    report(stored, "CHARGED c 9900");
    consumer.bean(ChargeReports.class).sweep();
    assertThat(openRows(stored)).hasSize(1);

    moveBack(stored);
    consumer.sweep("chargeReportSweeper");

    assertThat(status(stored)).isEqualTo(words[1]);
    assertThat(payment(stored)).isEqualTo(words[2]);
    assertThat(list(null)).isEmpty();
  }

  /** As when another transaction has locked a row. */
  @Test
  void aReportThatCannotBeJudgedNowKeepsNoOtherWaiting() {
    OrderId waiting = order(SoldBy.REDIS, "CONFIRMED");
    OrderId next = order(SoldBy.REDIS, "CONFIRMED");
    List.of(waiting, next).forEach(ChargeReportsIT::moveAway);
    report(waiting, "CHARGED c 6000");
    report(next, "CHARGED c 9900");
    List.of(waiting, next).forEach(ChargeReportsIT::moveBack);
    ChargeReports real = consumer.bean(ChargeReports.class);
    TransactionOperations locked =
        new TransactionOperations() {
          @Override
          public <T extends @Nullable Object> T execute(TransactionCallback<T> work) {
            throw new CannotAcquireLockException("for the test");
          }
        };

    new ChargeReports(real.orders(), real.payments(), real.unexplained(), locked).sweep();

    assertThat(status(next)).isEqualTo("PAID");
    assertThat(openRows(waiting)).hasSize(1);
    assertThat(openRows(next)).isEmpty();
  }

  @Test
  void aReportThatCameBeforeItsOrderStaysOpenWhenItDoesNotFit() {
    OrderId stored = order(SoldBy.REDIS, "CONFIRMED");
    moveAway(stored);
    report(stored, "CHARGED c 6000");
    moveBack(stored);

    consumer.bean(ChargeReports.class).sweep();
    consumer.bean(ChargeReports.class).sweep();

    assertThat(status(stored)).isEqualTo("CONFIRMED");
    assertThat(openRows(stored)).containsExactly("OTHER_AMOUNT CHARGED c-" + stored + " 6000");
  }

  @ParameterizedTest
  @ValueSource(strings = {"REFUNDED c 9900", "CHARGED c 6000", "CHARGED c 9900 USD"})
  void aChargeThatWasReportedDifferentlyBeforeItsOrderPaysForNothing(String earlier) {
    OrderId stored = order(SoldBy.REDIS, "CONFIRMED");
    moveAway(stored);
    report(stored, earlier);
    moveBack(stored);

    Answer charged = report(stored, "CHARGED c 9900");
    consumer.bean(ChargeReports.class).sweep();

    assertThat(reason(charged)).isEqualTo("CONTRADICTED");
    assertThat(status(stored)).isEqualTo("CONFIRMED");
    boolean isRefunded = earlier.startsWith("REFUNDED");
    assertThat(openRows(stored)).hasSize(isRefunded ? 0 : 2);
  }

  @Test
  void ofAnArchivedOrderOnlyTheChargeThatPaidForItIsExplained() {
    OrderId id = order(SoldBy.REDIS, "PAID");
    orders.archive(id);

    Answer own = report(id, "CHARGED sim 9900");
    Answer second = report(id, "CHARGED c 9900");

    assertThat(own.status()).as(own.text()).isEqualTo(200);
    assertThat(second.status()).as(second.text()).isEqualTo(202);
    assertThat(reason(second)).isEqualTo("ARCHIVED_ORDER");
    assertThat(openRows(id)).containsExactly("ARCHIVED_ORDER CHARGED " + charge(id, "c") + " 9900");
    JsonNode row = list("OPEN").get(0);
    assertThat(row.path("orderStatus").stringValue()).isEqualTo("PAID");
    assertThat(row.path("paymentState").stringValue()).isEqualTo("CHARGED");
  }

  @Test
  void aRefundedChargeOfAnArchivedOrderIsExplained() {
    OrderId id = order(SoldBy.REDIS, "CANCELLED");
    report(id, "CHARGED c 9900");
    orders.archive(id);

    Answer repeated = report(id, "CHARGED c 9900");

    assertThat(repeated.status()).as(repeated.text()).isEqualTo(200);
    assertThat(list("OPEN")).isEmpty();
  }
}
