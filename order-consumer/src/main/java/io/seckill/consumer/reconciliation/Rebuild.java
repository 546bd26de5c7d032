package io.seckill.consumer.reconciliation;

import io.seckill.common.order.Partition;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.fallback.FallbackSales;
import io.seckill.consumer.fallback.FallbackTable;
import io.seckill.consumer.loading.DatabaseSnapshot;
import io.seckill.consumer.loading.RedisListScan;
import io.seckill.consumer.loading.SaleLoader;
import io.seckill.consumer.loading.SaleLoader.Loaded;
import io.seckill.consumer.loading.SaleLoader.Replacing;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.runtime.Sleeps;
import io.seckill.consumer.storage.Barriers;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * Rewrites from MySQL, under a new epoch, a sale that Redis has lost, and resumes it. The process
 * may die after any step: until the end the sale admits nothing, and the next run starts over.
 * Every step that replaces something first checks that the lock is still held; even without the
 * lock, the epochs and the state that Redis has after the barrier keep two rebuilds from
 * overlapping.
 *
 * <ol>
 *   <li>The sale is stopped in Redis, whether Redis still has any of it or not. If Redis accepts no
 *       writes, or a foreign key is in the way, the run ends here.
 *   <li>Its orders in Redis's lists go to the broker, and a barrier follows: then MySQL, or the
 *       dead letters, have every order. Orders that an older Redis had admitted and that are in no
 *       store are sent again before.
 *   <li>MySQL raises the epoch. From here on gateways refuse the old data of Redis, compensations
 *       of the old epoch are no-ops, and orders of it that still arrive are judged by MySQL's
 *       guards alone. Of a sale in a fallback, units stay reserved only while dead letters may take
 *       them, and MySQL sells on.
 *   <li>One snapshot of MySQL is loaded: Redis gets MySQL's stock less the units that open dead
 *       letters may still take. Of a sale in a fallback, the changes since then follow, from a
 *       second snapshot that is taken when MySQL has stopped the sale.
 *   <li>The sale gets the state that MySQL has by then, while its row is locked, and a fallback of
 *       it ends. When the closing time has been moved meanwhile, the keys expire too early: the
 *       last two steps are repeated.
 * </ol>
 */
@Component
record Rebuild(
    SaleLoader loader,
    JdbcClient jdbc,
    TransactionOperations transactions,
    RedisSale sales,
    RedisListScan lists,
    Barriers barriers,
    LostOrders lost) {

  private static final Logger log = LoggerFactory.getLogger(Rebuild.class);
  private static final Duration POLL = Duration.ofMillis(100);
  static final String CHANGED = "The sale has changed in MySQL meanwhile.";
  private static final String IN_FALLBACK = "MySQL decides sales until the fallback ends.";
  private static final String CHANGED_IN_REDIS = "Redis has changed meanwhile.";
  private static final String NOT_STORED =
      "The barrier has not passed in time; orders are still being stored.";

  /** Ends a run before its last step, and says why. */
  private static void require(boolean condition, String otherwise) {
    if (!condition) {
      throw ProblemException.of(ProblemCode.UNAVAILABLE, otherwise);
    }
  }

  private static void requireHeld(RunLock lock) {
    require(lock.isHeld(), "The run has lost its lock; another one may be going on.");
  }

  /**
   * @param atMost longest wait for the orders in flight, and again for those sent again
   * @return UNPROVEN when orders were still in flight at the time-out, or another process began to
   *     load the sale: the sale stays closed until the next run
   * @throws org.springframework.dao.DataAccessException when MySQL is unavailable, or a
   *     TransactionException; the sale stays closed
   */
  Found run(ProductSnapshot sale, RedisSaleState seen, Duration atMost, RunLock lock) {
    RepairLog repairs = new RepairLog();
    try {
      bringToRest(sale, seen, atMost, lock, repairs);
      ProductSnapshot before = sale;
      for (int loadings = 0; loadings < SaleLoader.MOST_LOADINGS; loadings++) {
        requireHeld(lock);
        raiseEpoch(before, seen);
        ProductSnapshot raised = ProductRows.find(jdbc, sale.skuId()).orElseThrow();
        Optional<Loaded> loaded =
            loader.load(
                raised.skuId(), raised.epoch(), Replacing.ANYTHING, () -> requireHeld(lock));
        if (loaded.isPresent()) {
          return done(loaded.get(), raised, repairs);
        }
        before = raised;
      }
      return found(RunOutcome.UNPROVEN, "Its closing time keeps changing.", before, repairs);
    } catch (ProblemException e) {
      return found(RunOutcome.UNPROVEN, e.problem().text(), sale, repairs);
    }
  }

  private Found done(Loaded loaded, ProductSnapshot sale, RepairLog repairs) {
    String loading =
        "epoch %d, %d orders, stock %d".formatted(sale.epoch(), loaded.orders(), loaded.stock());
    log.warn("sku {}: rebuilt from MySQL, {}, {}", sale.skuId(), loading, loaded.state());
    repairs.add(Repair.of(RepairKind.SALE_REBUILT, sale.skuId(), "lost", loading, true));
    String detail = "Redis holds the sale; it is " + loaded.state() + ".";
    return found(RunOutcome.REBUILT, detail, sale, repairs);
  }

  private Found found(
      RunOutcome outcome, String detail, ProductSnapshot before, RepairLog repairs) {
    long epoch = ProductRows.find(jdbc, before.skuId()).orElse(before).epoch();
    return new Found(outcome, repairs.withLostOrders(detail), epoch, repairs);
  }

  /**
   * Ends the fallback of a sale whose rules Redis would have let expire: its data are too old. A
   * later preheat proves that nothing is in flight, as after a loss of data. Returns false when the
   * sale has changed meanwhile: MySQL sells on.
   */
  boolean abandon(ProductSnapshot sale) {
    sales.remove(sale);
    return FallbackSales.abandon(jdbc, sale.skuId(), sale.epoch());
  }

  /**
   * Lets MySQL sell on a sale in a fallback whose loading has failed. Without the lock another
   * process may be loading it.
   */
  void backToMySql(long skuId, RunLock lock) {
    if (lock.isHeld()) {
      FallbackSales.resume(jdbc, skuId);
    }
  }

  /** Waits until MySQL, or the dead letters, have every order that Redis has admitted. */
  private void bringToRest(
      ProductSnapshot sale, RedisSaleState seen, Duration atMost, RunLock lock, RepairLog repairs) {
    long deadline = System.nanoTime() + atMost.toNanos();
    long sku = sale.skuId();
    require(FallbackTable.redisTakesSales(jdbc), IN_FALLBACK); // spares the waits
    require(ProductRows.find(jdbc, sku).filter(sale::isSameLoadingAs).isPresent(), CHANGED);
    require(
        seen.isLoading() || sales.setState(sale, seen, RedisSaleState.LOADING), CHANGED_IN_REDIS);
    loader.probe(sale);
    require(
        awaitEmptyLists(sku, deadline),
        "Orders of the sale are still in Redis's lists; is a relay running?");
    requirePassed(sku, Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
    sendLostAgain(sale, seen, atMost, lock, repairs);
    RedisSaleState now = sales.state(sku);
    require(now.isLoading() && now.highestEpoch() == seen.highestEpoch(), CHANGED_IN_REDIS);
  }

  private boolean awaitEmptyLists(long sku, long deadline) {
    while (!lists.hasNone(sku)) {
      if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
        return false;
      }
      Sleeps.nanos(POLL.toNanos());
    }
    return true;
  }

  private void requirePassed(long sku, Duration atMost) {
    require(barriers.pass(Partition.ofSku(sku), atMost), NOT_STORED);
  }

  /**
   * Sends orders again that an older Redis had admitted, and passes another barrier behind them.
   * The search for them may take longer than the barriers, and than a lock without a query lasts.
   */
  private void sendLostAgain(
      ProductSnapshot sale, RedisSaleState seen, Duration atMost, RunLock lock, RepairLog repairs) {
    lost.missing(
        sale,
        seen.bucketCount(),
        missing -> {
          requireHeld(lock);
          List<Repair> sent = lost.send(sale, missing, false);
          repairs.addAll(sent);
          require(
              sent.stream().allMatch(one -> one.made() || one.kind().isOnlyReported()), NOT_STORED);
        });
    if (repairs.sizeMade() > 0) {
      requirePassed(sale.skuId(), atMost);
    }
  }

  /** A fallback may have begun again while the sale came to rest. */
  private void raiseEpoch(ProductSnapshot sale, RedisSaleState seen) {
    transactions.executeWithoutResult(
        tx -> {
          require(FallbackTable.redisTakesSales(jdbc), IN_FALLBACK);
          require(setEpoch(sale, seen), CHANGED);
        });
  }

  /**
   * The new epoch is also above every epoch that Redis can have, because MySQL may be the store
   * that was restored from a backup. The sequence continues above every number that the lost data
   * can have used: each order that was admitted and not stored held at least one unit. So an order
   * of the old epoch that arrives late never makes the new data look behind, and old data that come
   * back always do. Dead letters are not settled yet: each counts when it is replayed or discarded.
   * In a fallback {@code settled} counts rows until the end of the loading. MySQL assigns from left
   * to right. SQL cannot read how many units dead letters have: they keep what was reserved before,
   * but nothing that was reserved for unknown orders.
   */
  private boolean setEpoch(ProductSnapshot sale, RedisSaleState seen) {
    return jdbc.sql(
                "UPDATE products SET epoch = "
                    + ProductRows.RAISED_EPOCH
                    + " + 1, last_seq = "
                    + ProductRows.RAISED_SEQ
                    + " + initial_stock, change_seq = 0,"
                    + " settled = IF("
                    + SalePhase.REDIS_DECIDES
                    + ", last_seq - ("
                    + DatabaseSnapshot.COUNT_UNSETTLED_DEAD_LETTERS
                    + "), settled), reserved_units ="
                    + " IF(reserved_units > 0 AND NOT reserves_all AND ("
                    + DatabaseSnapshot.COUNT_UNSETTLED_DEAD_LETTERS
                    + ") > 0, reserved_units, 0), "
                    + FallbackSales.BEGIN_LOADING
                    + " WHERE sku_id = ? AND epoch = ? AND "
                    + FallbackSales.LOADABLE)
            .params(
                seen.highestEpoch(),
                seen.seq(),
                sale.skuId(),
                sale.skuId(),
                sale.skuId(),
                sale.epoch())
            .update()
        == 1;
  }
}
