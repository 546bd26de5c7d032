package io.seckill.consumer.ledger;

import io.seckill.common.order.Partition;
import io.seckill.consumer.ledger.DatabaseSaleCounters.Item;
import io.seckill.consumer.ledger.RedisBalanceItems.PartitionItems;
import io.seckill.consumer.ledger.SkuLedger.Lists;
import io.seckill.consumer.ledger.SkuLedger.MySql;
import io.seckill.consumer.ledger.SkuLedger.Orders;
import io.seckill.consumer.ledger.SkuLedger.Queue;
import io.seckill.consumer.ledger.SkuLedger.Units;
import io.seckill.consumer.orders.OrderTotals;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Computes one SKU's balance from its balance items; docs/architecture.md derives the equations.
 *
 * <p>MySQL can have decided orders that the relay has not counted as published yet. They count as
 * decided, so they are subtracted from those in the outbox and the private queues.
 */
final class BalanceCheck {

  private final DatabaseSaleCounters mysql;
  private final RedisSaleCounters redis;
  private final OrderTotals dead;
  private final Lists lists;
  private final @Nullable Queue queue;
  private final long compensating;
  private final long changing;

  /**
   * @param queue null when the broker did not answer
   * @param changing units of stock changes under way
   */
  BalanceCheck(
      DatabaseSaleCounters mysql, PartitionItems partition, @Nullable Queue queue, long changing) {
    Optional<RedisSaleCounters> sale = partition.sale(mysql.skuId());
    boolean offSale = sale.isEmpty() && isOffSale(mysql.state());
    this.mysql = mysql;
    this.redis = sale.orElseGet(() -> RedisSaleCounters.absent(mysql, offSale ? mysql.stock() : 0));
    this.dead = mysql.of(Item.DEAD_LETTERS);
    this.lists = partition.lists();
    this.queue = queue;
    this.compensating = offSale ? 0 : units(Item.COMPENSATING);
    this.changing = changing;
  }

  /** Of a strong sale: nothing but MySQL counts. A dead letter of its SKU never took a unit. */
  BalanceCheck(DatabaseSaleCounters mysql) {
    this.mysql = mysql;
    this.redis = RedisSaleCounters.none(mysql);
    this.dead = OrderTotals.NONE;
    this.lists = Lists.none(Partition.ofSku(mysql.skuId()));
    this.queue = null;
    this.compensating = 0;
    this.changing = 0;
  }

  /** The sale has not been preheated, or closed so long ago that Redis no longer has it. */
  private static boolean isOffSale(String state) {
    return state.equals("NEW") || state.equals("CLOSED");
  }

  SkuLedger solve(Instant readAt) {
    Units units = units();
    Orders orders = orders();
    MySql inMySql = mysql();
    boolean balanced =
        units.difference() == 0
            && orders.difference() == 0
            && inMySql.difference() == 0
            && lists.difference() == 0
            && (queue == null || queue.difference() <= 0);
    return new SkuLedger(
        mysql.skuId(),
        mysql.decides(),
        mysql.state(),
        mysql.epoch(),
        readAt,
        balanced,
        null,
        units,
        orders,
        inMySql,
        lists,
        queue,
        null,
        null);
  }

  private Units units() {
    long published = redis.published().units() - mysql.decided().units() - dead.units();
    long broker = Math.max(0, published);
    long relay = redis.awaitingRelay().units() + Math.min(0, published);
    long elsewhere =
        redis.stock()
            + relay
            + broker
            + dead.units()
            + units(Item.CONFIRMED)
            + units(Item.PAID)
            + compensating
            + changing;
    return new Units(
        mysql.total() - units(Item.ADDED) + units(Item.WITHDRAWN),
        units(Item.ADDED),
        units(Item.WITHDRAWN),
        redis.stock(),
        relay,
        broker,
        dead.units(),
        units(Item.CONFIRMED),
        units(Item.PAID),
        compensating,
        changing,
        mysql.total() - elsewhere);
  }

  private Orders orders() {
    long waiting = redis.awaitingRelay().orders();
    long published = redis.seq() - mysql.settled() - waiting - dead.orders();
    long broker = Math.max(0, published);
    long relay = waiting + Math.min(0, published);
    long admitted = redis.admitted().orders();
    return new Orders(
        admitted,
        relay,
        broker,
        dead.orders(),
        orders(Item.CONFIRMED),
        orders(Item.PAID),
        orders(Item.CANCELLED),
        orders(Item.EXPIRED),
        orders(Item.REJECTED),
        orders(Item.ALIASES),
        admitted - relay - broker - dead.orders() - mysql.decided().orders());
  }

  private MySql mysql() {
    long expected = mysql.total() - units(Item.CONFIRMED) - units(Item.PAID);
    return new MySql(mysql.stock(), expected, expected - mysql.stock());
  }

  private long units(Item item) {
    return mysql.of(item).units();
  }

  private long orders(Item item) {
    return mysql.of(item).orders();
  }
}
