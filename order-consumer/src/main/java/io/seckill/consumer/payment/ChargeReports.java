package io.seckill.consumer.payment;

import io.seckill.consumer.orders.Orders;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.support.contract.OrderRow;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Judges the reports that the provider sends on its own. Each report of money pays for its order,
 * makes a refund due, or becomes a row for an operator. A report may be repeated.
 */
@Component
record ChargeReports(
    Orders orders,
    Payments payments,
    UnexplainedCharges unexplained,
    TransactionOperations transactions) {

  private static final Logger log = LoggerFactory.getLogger(ChargeReports.class);

  /** Reports read at once by the sweep. */
  private static final int SWEEP_BATCH = 200;

  /** It finds only work that a crash left unfinished, which is not urgent. */
  private static final Duration PAUSE = Duration.ofSeconds(10);

  /**
   * The verdict on a report.
   *
   * @param order null when it is not stored
   * @param reason why an operator must decide; null when nothing is left to do
   */
  record Judged(@Nullable OrderRow order, @Nullable UnexplainedReason reason) {}

  Judged judge(ChargeReport report) {
    OrderRow order = orders.find(report.orderId()).orElse(null);
    UnexplainedReason reason = mismatch(report, order);
    if (report.kind() == ChargeReport.ReportKind.REFUNDED) {
      return new Judged(order, refunded(report, order, reason));
    }
    if (reason == null) {
      reason = payments.settle(Objects.requireNonNull(order), report.chargeId());
      if (reason == UnexplainedReason.ARCHIVED_ORDER) {
        reason = recorded(report, reason);
      }
      return new Judged(orders.find(report.orderId()).orElse(null), reason);
    }
    return new Judged(order, recorded(report, reason));
  }

  private @Nullable UnexplainedReason mismatch(ChargeReport report, @Nullable OrderRow order) {
    if (order == null) {
      return UnexplainedReason.UNKNOWN_ORDER;
    }
    if (report.chargeId().startsWith(ChargesInTransaction.ID_PREFIX)) { // no provider has made it
      return UnexplainedReason.CHARGE_OF_OTHER_ORDER;
    }
    if (report.currency() != null) {
      return UnexplainedReason.OTHER_CURRENCY;
    }
    return report.amountCents() == order.amountCents() ? null : UnexplainedReason.OTHER_AMOUNT;
  }

  /** A refund is expected of an unexplained charge, and of an order that ended without payment. */
  private @Nullable UnexplainedReason refunded(
      ChargeReport report, @Nullable OrderRow order, @Nullable UnexplainedReason mismatch) {
    if (unexplained.refunded(report, order != null)) {
      return null;
    }
    if (mismatch != null) {
      return recorded(report, mismatch);
    }
    return order != null && order.status().hasEnded()
        ? null
        : recorded(report, UnexplainedReason.REFUNDED_BY_PROVIDER);
  }

  /** Records the report for an operator, once. */
  UnexplainedReason recorded(ChargeReport report, UnexplainedReason reason) {
    transactions.executeWithoutResult(tx -> unexplained.record(report, reason));
    return reason;
  }

  @Bean
  Sweeper chargeReportSweeper() {
    return new Sweeper("charge-reports", PAUSE, this::sweep);
  }

  /**
   * Judges again the reports of orders that have been stored since. One that cannot be judged now
   * keeps no other waiting.
   */
  void sweep() {
    long after = 0;
    Map<Long, ChargeReport> page;
    do {
      page = unexplained.nowStored(after, SWEEP_BATCH);
      for (Map.Entry<Long, ChargeReport> row : page.entrySet()) {
        after = row.getKey();
        judgeAgain(after, row.getValue());
      }
    } while (page.size() == SWEEP_BATCH && !Thread.currentThread().isInterrupted());
  }

  private void judgeAgain(long id, ChargeReport report) {
    try {
      if (judge(report).reason() == null) {
        unexplained.explained(id);
        log.info("order {} is stored now, its charge is explained: {}", report.orderId(), report);
      }
    } catch (RuntimeException e) {
      SqlFailure.throwIfAway(e);
      log.warn("order {}: its charge cannot be judged now: {}", report.orderId(), e.toString());
    }
  }
}
