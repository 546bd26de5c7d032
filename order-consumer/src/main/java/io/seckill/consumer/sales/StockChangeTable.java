package io.seckill.consumer.sales;

import io.seckill.common.sale.SalePhase;
import io.seckill.support.web.Operator;
import java.util.List;
import java.util.Optional;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The table {@code stock_change}, and the columns of {@code products} that a change updates. */
@Component
record StockChangeTable(JdbcClient jdbc) {

  private static final String COLUMNS = "sku_id, change_id, delta, epoch, state";

  /**
   * Purchases of a strong sale that were decided with the stock before are decided again. An edit
   * has the stock, too: one that was begun with another is refused.
   */
  private static final String NOTICED =
      ", state_version = state_version + ("
          + SalePhase.REDIS_DOES_NOT_DECIDE
          + "), version = version + 1";

  /**
   * Inserts a new change, PENDING, for the sale's present epoch; an existing one stays as it is.
   *
   * @return the change as it is now; empty when there is no such product
   */
  Optional<StockChange> insert(
      long skuId, String changeId, long delta, String reason, Operator operator) {
    jdbc.sql(
            "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch)"
                + " SELECT sku_id, ?, ?, ?, ?, epoch FROM products WHERE sku_id = ?"
                + " ON DUPLICATE KEY UPDATE stock_change.sku_id = stock_change.sku_id")
        .params(changeId, delta, reason, operator.name(), skuId)
        .update();
    return find(skuId, changeId, "");
  }

  StockChange read(StockChange change) {
    return find(change.skuId(), change.changeId(), "").orElseThrow(DatabaseStock::gone);
  }

  /** Locks the row until the transaction ends. */
  Optional<StockChange> lock(StockChange change) {
    return find(change.skuId(), change.changeId(), " FOR UPDATE");
  }

  private Optional<StockChange> find(long skuId, String changeId, String lock) {
    return jdbc.sql(
            "SELECT " + COLUMNS + " FROM stock_change WHERE sku_id = ? AND change_id = ?" + lock)
        .params(skuId, changeId)
        .query(StockChange.class)
        .optional();
  }

  /** Updates a change if it still has exactly the state and epoch it was read with. */
  boolean move(StockChange from, ChangeState state, long epoch) {
    return jdbc.sql(
                "UPDATE stock_change SET state = ?, epoch = ?"
                    + " WHERE sku_id = ? AND change_id = ? AND state = ? AND epoch = ?")
            .params(
                state.name(),
                epoch,
                from.skuId(),
                from.changeId(),
                from.state().name(),
                from.epoch())
            .update()
        == 1;
  }

  /** Adds units to the product, as long as its total stays within bounds. */
  boolean add(long skuId, long units) {
    return jdbc.sql(
                "UPDATE products SET stock = stock + :units, initial_stock = initial_stock + :units"
                    + NOTICED
                    + " WHERE sku_id = :sku AND initial_stock <= :max - :units")
            .param("units", units)
            .param("sku", skuId)
            .param("max", DatabaseStock.MAX_STOCK)
            .update()
        == 1;
  }

  /**
   * Changes the units of no shard. The version shows that units have moved, also when as many came
   * back since. Returns false when there are too few.
   */
  boolean pool(long skuId, long delta) {
    return jdbc.sql(
                "UPDATE products SET stock = stock + :delta, state_version = state_version + 1"
                    + " WHERE sku_id = :sku AND stock >= -:delta")
            .param("delta", delta)
            .param("sku", skuId)
            .update()
        == 1;
  }

  /**
   * Notes that Redis has had so many changes of the change's epoch: a server with fewer has lost
   * some.
   *
   * @param changeSeq 0 for none
   */
  void isInRedis(StockChange change, long changeSeq) {
    if (changeSeq > 0) {
      jdbc.sql(
              "UPDATE products SET change_seq = GREATEST(change_seq, ?)"
                  + " WHERE sku_id = ? AND epoch = ?")
          .params(changeSeq, change.skuId(), change.epoch())
          .update();
    }
  }

  /** Units that {@link #withdraw} can take. */
  long sellable(long skuId) {
    return jdbc.sql("SELECT " + SalePhase.SELLABLE_UNITS + " FROM products WHERE sku_id = ?")
        .param(skuId)
        .query(Long.class)
        .single();
  }

  /** Withdraws units from the product, if it has them and none of them is reserved. */
  boolean withdraw(long skuId, long units) {
    return jdbc.sql(
                "UPDATE products SET stock = stock - :units, initial_stock = initial_stock - :units"
                    + NOTICED
                    + " WHERE sku_id = :sku AND "
                    + SalePhase.SELLABLE_UNITS
                    + " >= :units")
            .param("units", units)
            .param("sku", skuId)
            .update()
        == 1;
  }

  /** The SKU of each unfinished change of these SKUs. */
  List<Long> unfinishedOf(List<Long> skuIds) {
    return jdbc.sql(
            "SELECT sku_id FROM stock_change FORCE INDEX (ix_stock_change_state)"
                + " WHERE state IN ('PENDING', 'MYSQL_DONE', 'UNDOING') AND sku_id IN (:skus)")
        .param("skus", skuIds)
        .query(Long.class)
        .list();
  }

  /**
   * Returns a page of the unfinished changes that no process has updated for a while, in the order
   * of SKU and id: those after this one.
   *
   * @param idleSeconds 0 for all; a time to come is from before MySQL's clock was set back
   */
  List<StockChange> unfinished(long skuId, String changeId, int idleSeconds, int limit) {
    return jdbc.sql(
            "SELECT "
                + COLUMNS
                + " FROM stock_change FORCE INDEX (ix_stock_change_state)"
                + " WHERE state IN ('PENDING', 'MYSQL_DONE', 'UNDOING')"
                + " AND (updated_at <= NOW(6) - INTERVAL ? SECOND OR updated_at > NOW(6))"
                + " AND (sku_id > ? OR (sku_id = ? AND change_id > ?))"
                + " ORDER BY sku_id, change_id LIMIT ?")
        .params(idleSeconds, skuId, skuId, changeId, limit)
        .query(StockChange.class)
        .list();
  }
}
