package io.seckill.consumer.fallback;

import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.fallback.FallbackTable.Row;
import io.seckill.consumer.fallback.GatewayTable.Overview;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Lets MySQL decide the sales of a fallback, and reserves what Redis may have promised. For one
 * thread.
 */
final class FallbackActivation {

  private static final Logger log = LoggerFactory.getLogger(FallbackActivation.class);

  private final FallbackTable table;
  private final FallbackSales sales;
  private final GatewayTable gateways;
  private final SaleObservations looks;
  private final TransactionOperations transactions;
  private final EnteringWait enteringWait = new EnteringWait(System::nanoTime);
  private long reducedTerm;

  FallbackActivation(
      FallbackTable table,
      FallbackSales sales,
      GatewayTable gateways,
      SaleObservations looks,
      FallbackDatabase mysql) {
    this.table = table;
    this.sales = sales;
    this.gateways = gateways;
    this.looks = looks;
    this.transactions = mysql.transactions();
  }

  /**
   * Activates each sale, when no gateway can promise any more and all have transferred their
   * promises, or time is up. Returns whether it was time.
   */
  boolean activate(Overview seen) {
    if (!enteringWait.isOver(seen)) {
      return false;
    }
    long term = seen.fallback().term();
    sales.all().stream()
        .filter(sale -> sale.phase() == SalePhase.ENTERING)
        .forEach(
            sale ->
                alone(
                    sale.skuId(), "MySQL does not decide yet", () -> activate(sale.skuId(), term)));
    return true;
  }

  /** Whether MySQL decides every sale of this term. */
  boolean isDone(Row row, long term) {
    return isIn(row, SalePhase.ENTERING, term)
        && sales.all().stream().noneMatch(sale -> sale.phase() == SalePhase.ENTERING);
  }

  /** The gateways are read again, after the sale is stopped and while the state cannot change. */
  private void activate(long skuId, long term) {
    if (isIn(table.lock(), SalePhase.ENTERING, term)) {
      boolean whole = gateways.overview().gateways().haveTransferredAll(term);
      sales.activate(skuId, looks.of(skuId), whole);
    }
  }

  /**
   * Frees what is reserved for unknown orders of gateways, when after MySQL began to decide the
   * last of them has transferred its promises, or was removed; also of sales that are to return.
   */
  void reduceReserves(Overview seen) {
    long term = seen.fallback().term();
    if (reducedTerm == term || !seen.gateways().haveTransferredAll(term)) {
      return;
    }
    boolean areReduced =
        sales.allReserved().stream()
            .map(sku -> alone(sku, "all stays reserved", () -> reduce(sku, term)))
            .reduce(true, Boolean::logicalAnd);
    if (areReduced) {
      reducedTerm = term; // what is reserved still is for gateways that ended before
    }
  }

  private void reduce(long skuId, long term) {
    Row row = table.lock();
    if ((isIn(row, SalePhase.MYSQL, term) || isIn(row, SalePhase.RETURNING, term))
        && gateways.overview().gateways().haveTransferredAll(term)) {
      sales.reduceReserve(skuId, looks.of(skuId), row.enteredAt());
    }
  }

  private static boolean isIn(Row row, SalePhase state, long term) {
    return row.isIn(state) && row.term() == term;
  }

  /** A row that another transaction keeps locked delays no other sale. */
  private boolean alone(long skuId, String without, Runnable change) {
    try {
      transactions.executeWithoutResult(tx -> change.run());
      return true;
    } catch (DataAccessException | TransactionException e) {
      log.warn("sku {}: {}: {}", skuId, without, e.toString());
      return false;
    }
  }
}
