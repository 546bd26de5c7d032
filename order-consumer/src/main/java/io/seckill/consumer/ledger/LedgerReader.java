package io.seckill.consumer.ledger;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderLines;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.ledger.BrokerBalanceItems.Messages;
import io.seckill.consumer.ledger.DatabaseBalanceItems.DatabaseSaleCounters;
import io.seckill.consumer.ledger.DatabaseBalanceItems.DatabaseSaleCounters.Item;
import io.seckill.consumer.ledger.DatabaseBalanceItems.DatabaseSaleCounters.UnfinishedChange;
import io.seckill.consumer.ledger.DatabaseBalanceItems.Progress;
import io.seckill.consumer.ledger.RedisBalanceItems.PartitionItems;
import io.seckill.consumer.ledger.RedisBalanceItems.RedisSaleCounters;
import io.seckill.consumer.ledger.SkuLedger.Lists;
import io.seckill.consumer.ledger.SkuLedger.MySql;
import io.seckill.consumer.ledger.SkuLedger.Orders;
import io.seckill.consumer.ledger.SkuLedger.Queue;
import io.seckill.consumer.ledger.SkuLedger.Units;
import io.seckill.consumer.orders.OrderTotals;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Reads the balance items of the SKUs of one order queue, in the order in which an order travels:
 * admissions, outbox and private queues at one moment, then the broker, then MySQL at one moment.
 * An order that moves meanwhile is therefore counted at least once; only an order that is missing
 * in each of several reads is lost. Thread-safe.
 */
@Component
record LedgerReader(
    RedisBalanceItems redisItems,
    BrokerBalanceItems brokerItems,
    DatabaseBalanceItems mysqlItems,
    UnifiedJedis redis,
    Clock clock) {

  static int queueOf(long skuId) {
    return Partition.ofSku(skuId) % BrokerTopology.ORDER_QUEUES;
  }

  /**
   * Without a partition of the queue, the ledgers of the others do not check the queue.
   *
   * @throws JedisException when Redis is one server and unavailable
   * @throws org.springframework.dao.DataAccessException when MySQL is unavailable
   */
  QueueReading read(int queue) {
    Instant at = clock.instant();
    Map<Integer, JedisException> missing = new HashMap<>();
    List<PartitionItems> partitions = redisItems.read(partitionsOf(queue), missing::put);
    String name = BrokerTopology.orderQueue(queue);
    Optional<Messages> messages = missing.isEmpty() ? brokerItems.read(name) : Optional.empty();
    Queue checked = messages.map(found -> check(name, found, partitions)).orElse(null);
    return new QueueReading(at, partitions, missing, checked);
  }

  /**
   * @param skus all of the queue of the reading, none of a strong sale
   * @param failed called for each of them that Redis cannot report
   * @return a ledger for each other SKU that MySQL has
   * @throws org.springframework.dao.DataAccessException when MySQL is unavailable
   */
  List<SkuLedger> read(
      QueueReading reading, Collection<Long> skus, BiConsumer<Long, JedisException> failed) {
    List<SkuLedger> ledgers = new ArrayList<>();
    for (DatabaseSaleCounters sale : mysqlItems.read(skus).values()) {
      try {
        ledgers.add(ledger(sale, reading));
      } catch (JedisException e) {
        failed.accept(sale.skuId(), e);
      }
    }
    return ledgers;
  }

  /**
   * Reads strong sales, in one snapshot of MySQL: their purchases never are anywhere else.
   *
   * @return a ledger for each SKU that MySQL has
   * @throws org.springframework.dao.DataAccessException when MySQL is unavailable
   */
  List<SkuLedger> readStrong(Collection<Long> skus) {
    return mysqlItems.read(skus).values().stream()
        .map(sale -> BalanceCheck.ofStrong(sale).solve(clock.instant()))
        .toList();
  }

  private static List<Integer> partitionsOf(int queue) {
    return IntStream.range(0, Partition.COUNT)
        .filter(partition -> partition % BrokerTopology.ORDER_QUEUES == queue)
        .boxed()
        .toList();
  }

  /** MySQL is queried last, so an order settled since Redis was read counts as settled. */
  private Queue check(String queue, Messages found, List<PartitionItems> partitions) {
    List<RedisSaleCounters> sales =
        partitions.stream().flatMap(partition -> partition.sales().stream()).toList();
    Map<Long, Progress> progress =
        mysqlItems.progress(sales.stream().map(RedisSaleCounters::skuId).toList());
    long expected =
        sales.stream().mapToLong(sale -> inBroker(sale, progress.get(sale.skuId()))).sum();
    long difference = difference(expected, found);
    return new Queue(queue, found.ready(), found.unacked(), expected, difference);
  }

  /** Each ready message has one order, or up to {@value OrderLines#MOST_ORDERS}. */
  private static long difference(long expected, Messages found) {
    long fewest = found.ready() + found.unacked();
    long most = found.ready() * OrderLines.MOST_ORDERS + found.unacked();
    return Math.max(expected - most, Math.min(0, expected - fewest));
  }

  /** Returns 0 for a sale that is being preheated, or that MySQL has in another epoch. */
  private static long inBroker(RedisSaleCounters sale, @Nullable Progress progress) {
    return progress == null || progress.epoch() != sale.epoch()
        ? 0
        : Math.max(
            0,
            sale.seq()
                - progress.settled()
                - sale.awaitingRelay().orders()
                - progress.deadLetters());
  }

  private SkuLedger ledger(DatabaseSaleCounters sale, QueueReading reading) {
    PartitionItems partition = reading.of(sale.skuId());
    long loaded = partition.sale(sale.skuId()).map(RedisSaleCounters::epoch).orElse(0L);
    long changing =
        sale.unfinished().stream()
            .filter(change -> change.epoch() >= loaded) // else Redis was loaded with MySQL's units
            .mapToLong(change -> changing(sale, change))
            .sum();
    return BalanceCheck.of(sale, partition, reading.checked(), changing).solve(reading.at());
  }

  /**
   * Units that only one store contains: those of an addition until Redis has applied it, those of a
   * withdrawal from when Redis has applied it until MySQL has.
   */
  private long changing(DatabaseSaleCounters sale, UnfinishedChange change) {
    String known = redis.hget(RedisKeys.stockChanges(sale.skuId()), change.changeId());
    boolean inRedis =
        known != null && known.startsWith(change.epoch() + ":") && known.endsWith(":A");
    if (change.delta() > 0) {
      return change.inMySql() && !inRedis ? change.delta() : 0;
    }
    return inRedis ? -change.delta() : 0;
  }

  /**
   * Computes one SKU's balance from its balance items; docs/architecture.md derives the equations.
   *
   * <p>MySQL can have decided orders that the relay has not counted as published yet. They count as
   * decided, so they are subtracted from those in the outbox and the private queues.
   *
   * @param queue null when it was not checked
   * @param changing units of stock changes under way
   */
  private record BalanceCheck(
      DatabaseSaleCounters mysql,
      RedisSaleCounters redis,
      OrderTotals dead,
      Lists lists,
      @Nullable Queue queue,
      long compensating,
      long changing) {

    static BalanceCheck of(
        DatabaseSaleCounters mysql,
        PartitionItems partition,
        @Nullable Queue queue,
        long changing) {
      OrderTotals dead = mysql.of(Item.DEAD_LETTERS);
      Lists lists = partition.lists();
      Optional<RedisSaleCounters> sale = partition.sale(mysql.skuId());
      if (sale.map(found -> isPreheat(found, mysql)).orElse(isOffSale(mysql))) {
        long stock = mysql.stock() - dead.units();
        RedisSaleCounters redis = RedisSaleCounters.absent(mysql, stock);
        return new BalanceCheck(mysql, redis, dead, lists, queue, 0, 0);
      }
      RedisSaleCounters redis = sale.orElseGet(() -> RedisSaleCounters.absent(mysql, 0));
      long compensating = mysql.of(Item.COMPENSATING).units();
      return new BalanceCheck(mysql, redis, dead, lists, queue, compensating, changing);
    }

    /** Nothing but MySQL counts. A dead letter of the SKU never took a unit. */
    static BalanceCheck ofStrong(DatabaseSaleCounters mysql) {
      RedisSaleCounters redis = RedisSaleCounters.none(mysql);
      Lists lists = Lists.none(Partition.ofSku(mysql.skuId()));
      return new BalanceCheck(mysql, redis, OrderTotals.NONE, lists, null, 0, 0);
    }

    /** Redis need not have the sale: it has not been preheated, or is over. */
    private static boolean isOffSale(DatabaseSaleCounters sale) {
      return sale.ended() || sale.state().equals("NEW") || sale.state().equals("CLOSED");
    }

    /** Redis gets the stock when all is loaded, less the units that dead letters may take. */
    private static boolean isPreheat(RedisSaleCounters found, DatabaseSaleCounters sale) {
      return found.epoch() == 0 && !sale.state().equals("OPEN") && !sale.state().equals("PAUSED");
    }

    SkuLedger solve(Instant readAt) {
      Units units = units();
      Orders orders = orders();
      MySql inMySql = inMySql();
      boolean balanced = !SkuLedger.differ(units, orders, inMySql, lists, queue);
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
          null,
          false);
    }

    private Units units() {
      long published = redis.published().units() - mysql.decided().units() - dead.units();
      long broker = Math.max(0, published);
      long relay = redis.awaitingRelay().units() + Math.min(0, published);
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
          changing);
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

    private MySql inMySql() {
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
}
