package io.seckill.consumer.sales;

import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * MySQL's half of a stock change, in the caller's transaction. Units come to a shard from the row
 * of its SKU, and return there: one transaction changes both rows.
 */
@Component
record DatabaseStock(StockChangeTable table, JdbcClient jdbc) {

  private static final Logger log = LoggerFactory.getLogger(DatabaseStock.class);

  static final long MAX_STOCK = 1_000_000_000L;

  /** In place of the number of a change: Redis did not decide the sale. */
  static final long NOT_ASKED = -1;

  /** Adds the units of a change that is PENDING; refuses it when there are too many, or too few. */
  void add(StockChange read) {
    StockChange change = table.lock(read).orElseThrow(DatabaseStock::gone);
    ProductSnapshot sale = lock(change.skuId());
    if (change.state() != ChangeState.PENDING || isBetween(sale)) {
      return;
    }
    if (isPooled(change) && table.add(change.skuId(), change.delta())) {
      table.move(
          change, isOnlyInMySql(sale) ? ChangeState.DONE : ChangeState.MYSQL_DONE, sale.epoch());
    } else {
      table.move(change, ChangeState.REFUSED, change.epoch());
    }
  }

  /**
   * Withdraws the units of a change that Redis has applied, or need not apply. The change stays as
   * it is when Redis decides the sale by now, and was not asked; and when the row of a SKU with
   * shards has too few units: they were gathered, and went elsewhere.
   *
   * @param changeSeq as in {@link RedisStock.Reply}, or {@link #NOT_ASKED}
   */
  void withdraw(StockChange read, long changeSeq) {
    StockChange change = table.lock(read).orElseThrow(DatabaseStock::gone);
    if (!change.equals(read)) {
      return;
    }
    ProductSnapshot sale = lock(change.skuId());
    if (isBetween(sale) || (changeSeq == NOT_ASKED && !isOnlyInMySql(sale))) {
      return;
    }
    if (sale.epoch() != change.epoch()) {
      table.move(change, ChangeState.PENDING, sale.epoch());
    } else if (table.withdraw(change.skuId(), -change.delta()) && isPooled(change)) {
      finish(change, ChangeState.DONE, changeSeq);
    } else if (isOnlyInMySql(sale)) {
      if (sale.shardIds().isEmpty()) {
        table.move(change, ChangeState.REFUSED, change.epoch());
      }
    } else {
      log.error("sku {}: Redis had units that MySQL does not have", change.skuId());
      table.move(change, ChangeState.UNDOING, change.epoch());
    }
  }

  /**
   * Ends a change that needs no more of MySQL's half.
   *
   * @param changeSeq as in {@link RedisStock.Reply}
   */
  void finish(StockChange change, ChangeState state, long changeSeq) {
    if (table.move(change, state, change.epoch())) {
      table.isInRedis(change, changeSeq);
    }
  }

  /**
   * Locks changes of shards of one SKU, and then the row of the SKU: the order in which one change
   * locks them, with the row of its shard after these.
   */
  void lock(List<StockChange> ofShards) {
    ofShards.forEach(table::lock);
    var unused = lockRow(Shards.sku(ofShards.get(0).skuId()));
  }

  ProductSnapshot sale(long id) {
    return ProductRows.find(jdbc, id).orElseThrow(DatabaseStock::gone);
  }

  /** Locks the row, after that of the SKU if this is a shard. */
  private ProductSnapshot lock(long id) {
    if (Shards.isShard(id)) {
      var unused = lockRow(Shards.sku(id));
    }
    return lockRow(id);
  }

  private ProductSnapshot lockRow(long id) {
    return ProductRows.lock(jdbc, id).orElseThrow(DatabaseStock::gone);
  }

  /** Whether the units of a shard's change were taken from the row of its SKU, or put there. */
  private boolean isPooled(StockChange change) {
    return !Shards.isShard(change.skuId())
        || table.pool(Shards.sku(change.skuId()), -change.delta());
  }

  /** Whether nothing that Redis has of the sale counts, or it was never preheated there. */
  static boolean isOnlyInMySql(ProductSnapshot sale) {
    return !sale.phase().redisDecides() || sale.state().equals("NEW");
  }

  /** Whether a fallback begins or ends. */
  static boolean isBetween(ProductSnapshot sale) {
    return sale.phase().nobodyDecides();
  }

  /** Products are never deleted, and moves only with the archive of their shard. */
  static IllegalStateException gone() {
    return new IllegalStateException("a row of a stock change is gone");
  }
}
