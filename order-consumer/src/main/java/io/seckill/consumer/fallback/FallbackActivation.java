package io.seckill.consumer.fallback;

import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.fallback.FallbackSales.InFallback;
import io.seckill.consumer.fallback.FallbackTable.Row;
import io.seckill.consumer.fallback.GatewayTable.Overview;
import io.seckill.consumer.runtime.Sql;
import io.seckill.consumer.runtime.SqlFailure;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
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

  /** Until it is committed nobody sells its sales, and no order of them is stored. */
  private static final int TOGETHER = 500;

  private final FallbackTable table;
  private final FallbackSales sales;
  private final GatewayTable gateways;
  private final SaleReserves reserves;
  private final TransactionOperations transactions;
  private final EnteringWait enteringWait = new EnteringWait(System::nanoTime);

  FallbackActivation(
      FallbackTable table,
      FallbackSales sales,
      GatewayTable gateways,
      SaleObservations looks,
      FallbackDatabase mysql) {
    this.table = table;
    this.sales = sales;
    this.gateways = gateways;
    this.reserves = new SaleReserves(mysql.jdbc(), looks);
    this.transactions = mysql.transactions();
  }

  /**
   * Activates the sales, when no gateway can promise any more and all have transferred their
   * promises, or time is up. Returns whether it was time.
   */
  boolean activate(Overview seen) {
    if (!enteringWait.isOver(seen)) {
      return false;
    }
    long term = seen.fallback().term();
    List<Long> entering =
        sales.all().stream()
            .filter(sale -> sale.phase() == SalePhase.ENTERING)
            .map(InFallback::skuId)
            .toList();
    changeAll(entering, "MySQL does not decide yet", (skus, waits) -> activate(skus, waits, term));
    return true;
  }

  /** Whether MySQL decides every sale of this term. */
  boolean isDone(Row row, long term) {
    return isIn(row, SalePhase.ENTERING, term)
        && sales.all().stream().noneMatch(sale -> sale.phase() == SalePhase.ENTERING);
  }

  /** The gateways are read again, after the sales are stopped and while the state cannot change. */
  private List<Long> activate(List<Long> skus, boolean waits, long term) {
    if (!isIn(table.lock(), SalePhase.ENTERING, term)) {
      return skus;
    }
    boolean whole = gateways.overview().gateways().haveTransferredAll(term);
    return reserves.activate(skus, waits, whole);
  }

  /**
   * Frees what is reserved for unknown orders of gateways, when after MySQL began to decide the
   * last of them has transferred its promises, or was removed; also of sales that are to return,
   * and of one that was over then, once it is extended.
   */
  void reduceReserves(Overview seen) {
    long term = seen.fallback().term();
    if (seen.gateways().haveTransferredAll(term)) {
      changeAll(
          sales.allReserved(), "all stays reserved", (skus, waits) -> reduce(skus, waits, term));
    }
  }

  private List<Long> reduce(List<Long> skus, boolean waits, long term) {
    Row row = table.lock();
    boolean may =
        (isIn(row, SalePhase.MYSQL, term) || isIn(row, SalePhase.RETURNING, term))
            && gateways.overview().gateways().haveTransferredAll(term);
    return may ? reserves.reduce(skus, waits, row.enteredAt()) : skus;
  }

  private static boolean isIn(Row row, SalePhase state, long term) {
    return row.isIn(state) && row.term() == term;
  }

  /** A change of sales in one transaction. */
  @FunctionalInterface
  private interface Change {

    /** Returns those for which nothing is left to do; the others are locked, if it did not wait. */
    List<Long> make(List<Long> skus, boolean waits);
  }

  /**
   * Changes many sales in one transaction, and then alone those that another transaction has
   * locked, or that were with one that failed: neither delays another sale.
   */
  private void changeAll(List<Long> skus, String without, Change change) {
    Set<Long> left = new LinkedHashSet<>(skus);
    for (List<Long> some : Sql.chunks(skus, TOGETHER)) {
      left.removeAll(change(some, false, without, change));
    }
    for (long sku : left) {
      change(List.of(sku), true, without, change);
    }
  }

  /** None when the transaction has failed. */
  private List<Long> change(List<Long> skus, boolean waits, String without, Change change) {
    try {
      return transactions.execute(tx -> change.make(skus, waits));
    } catch (DataAccessException | TransactionException e) {
      SqlFailure.throwIfAway(e);
      String which = skus.size() == 1 ? "sku " + skus.get(0) : skus.size() + " sales";
      log.warn("{}: {}: {}", which, without, e.toString());
      return List.of();
    }
  }
}
