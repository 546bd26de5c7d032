package io.seckill.consumer.consistency;

import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.consistency.SkuLedger.Lists;
import io.seckill.consumer.consistency.SkuLedger.MySql;
import io.seckill.consumer.consistency.SkuLedger.Orders;
import io.seckill.consumer.consistency.SkuLedger.Queue;
import io.seckill.consumer.consistency.SkuLedger.Units;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Computes one SKU's balance from its balance items; docs/architecture.md derives the equations.
 */
final class BalanceCheck {

  private final DatabaseSaleCounters mysql;
  private final @Nullable RedisSaleCounters redis;
  private final PartitionBalanceItems partition;
  private final @Nullable Queue queue;
  private final long changing;

  /**
   * @param redis null when Redis has no such sale
   * @param queue null when the broker did not answer
   * @param changing units of stock changes under way
   */
  BalanceCheck(
      DatabaseSaleCounters mysql,
      @Nullable RedisSaleCounters redis,
      PartitionBalanceItems partition,
      @Nullable Queue queue,
      long changing) {
    this.mysql = mysql;
    this.redis = redis;
    this.partition = partition;
    this.queue = queue;
    this.changing = changing;
  }

  SkuLedger solve(Instant readAt) {
    Units units = units();
    Orders orders = orders();
    MySql inMySql = mysql();
    Lists lists = lists();
    boolean balanced =
        units.difference() == 0
            && orders.difference() == 0
            && inMySql.difference() == 0
            && lists.difference() == 0
            && (queue == null || queue.difference() <= 0);
    return new SkuLedger(
        mysql.skuId(),
        mysql.state(),
        mysql.epoch(),
        readAt,
        balanced,
        null,
        units,
        orders,
        inMySql,
        lists,
        queue);
  }

  private Units units() {
    long stock = redis != null ? redis.stock() : isOffSale() ? mysql.stock() : 0;
    long way = redis == null ? 0 : redis.awaitingRelay().units();
    long broker =
        redis == null
            ? 0
            : redis.published().units() - mysql.decided().units() - mysql.deadLetters().units();
    // MySQL can have decided orders that the relay has not counted as published yet. They count
    // as decided, so they are subtracted here.
    long relay = way + Math.min(0, broker);
    long confirmed = mysql.of(OrderStatus.CONFIRMED).units();
    long paid = mysql.of(OrderStatus.PAID).units();
    long compensating = redis == null && isOffSale() ? 0 : mysql.compensating();
    long right =
        stock
            + relay
            + Math.max(0, broker)
            + mysql.deadLetters().units()
            + confirmed
            + paid
            + compensating
            + changing;
    return new Units(
        mysql.total() - mysql.added() + mysql.withdrawn(),
        mysql.added(),
        mysql.withdrawn(),
        stock,
        relay,
        Math.max(0, broker),
        mysql.deadLetters().units(),
        confirmed,
        paid,
        compensating,
        changing,
        mysql.total() - right);
  }

  private Orders orders() {
    long dead = mysql.deadLetters().orders();
    long decided = mysql.decided().orders();
    // Without a sale in Redis, only decided orders and dead letters are known to be admitted.
    long admitted = redis == null ? decided + dead : redis.admitted().orders();
    long way = redis == null ? 0 : redis.awaitingRelay().orders();
    long broker = redis == null ? 0 : redis.seq() - mysql.settled() - way - dead;
    long relay = way + Math.min(0, broker);
    return new Orders(
        admitted,
        relay,
        Math.max(0, broker),
        dead,
        mysql.of(OrderStatus.CONFIRMED).orders(),
        mysql.of(OrderStatus.PAID).orders(),
        mysql.of(OrderStatus.CANCELLED).orders(),
        mysql.of(OrderStatus.EXPIRED).orders(),
        mysql.of(OrderStatus.REJECTED).orders(),
        mysql.aliases().orders(),
        admitted - relay - Math.max(0, broker) - dead - decided);
  }

  private MySql mysql() {
    long expected =
        mysql.total()
            - mysql.of(OrderStatus.CONFIRMED).units()
            - mysql.of(OrderStatus.PAID).units();
    return new MySql(mysql.stock(), expected, expected - mysql.stock());
  }

  private Lists lists() {
    return new Lists(
        partition.partition(),
        partition.outbox(),
        partition.oldestMs(),
        partition.privateQueues(),
        partition.deadPrivateQueues(),
        partition.expected(),
        partition.difference());
  }

  /** The sale has not been preheated, or closed so long ago that Redis no longer has it. */
  private boolean isOffSale() {
    return mysql.state().equals("NEW") || mysql.state().equals("CLOSED");
  }
}
