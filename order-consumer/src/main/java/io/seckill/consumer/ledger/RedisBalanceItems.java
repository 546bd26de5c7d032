package io.seckill.consumer.ledger;

import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.ledger.DatabaseBalanceItems.DatabaseSaleCounters;
import io.seckill.consumer.ledger.DatabaseBalanceItems.DatabaseSaleCounters.Item;
import io.seckill.consumer.ledger.SkuLedger.Lists;
import io.seckill.consumer.orders.OrderTotals;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** Reads the balance items in Redis; see {@code balance_items.lua}. Thread-safe. */
@Component
record RedisBalanceItems(UnifiedJedis redis) {

  private static final LuaScript SCRIPT =
      LuaScript.from(RedisBalanceItems.class, "balance_items.lua");

  /** Index of the first SKU in the reply; the fields before it describe the partition. */
  private static final int FIRST_SKU = 5;

  private static final int FIELDS = 8;

  /** The contents of one partition, all read at one moment: every SKU preheated in it. */
  record PartitionItems(Lists lists, List<RedisSaleCounters> sales) {

    Optional<RedisSaleCounters> sale(long skuId) {
      return sales.stream().filter(sale -> sale.skuId() == skuId).findFirst();
    }
  }

  /**
   * @param failed called for each partition that cannot be read: its node is unavailable, or one of
   *     its keys has the wrong type
   * @return the other partitions, each read at one moment, in the requested order
   * @throws JedisException when all partitions are on one server and it does not answer
   */
  List<PartitionItems> read(
      Collection<Integer> partitions, BiConsumer<Integer, JedisException> failed) {
    List<PartitionItems> found = new ArrayList<>();
    for (int partition : partitions) {
      try {
        found.add(read(partition));
      } catch (JedisException e) {
        if (!(e instanceof JedisDataException) && !RedisClients.areApart(redis)) {
          throw e;
        }
        failed.accept(partition, e);
      }
    }
    return found;
  }

  private PartitionItems read(int partition) {
    List<?> reply =
        (List<?>)
            SCRIPT.call(
                redis,
                List.of(RedisKeys.outbox(partition), RedisKeys.absent(partition)),
                List.of(RedisKeys.prefix(partition)));
    List<RedisSaleCounters> sales = new ArrayList<>();
    for (int at = FIRST_SKU; at < reply.size(); at += FIELDS) {
      sales.add(sale(reply.subList(at, at + FIELDS)));
    }
    long outbox = number(reply.get(1));
    long privateQueues = number(reply.get(3));
    long expected = sales.stream().mapToLong(sale -> sale.awaitingRelay().orders()).sum();
    Lists lists =
        new Lists(
            partition,
            outbox,
            OrderMessageCodec.ageMs(String.valueOf(reply.get(2)), number(reply.get(0))),
            privateQueues,
            number(reply.get(4)),
            expected,
            expected - outbox - privateQueues);
    return new PartitionItems(lists, List.copyOf(sales));
  }

  private static RedisSaleCounters sale(List<?> fields) {
    return new RedisSaleCounters(
        number(fields.get(0)),
        number(fields.get(1)),
        number(fields.get(2)),
        number(fields.get(3)),
        new OrderTotals(number(fields.get(4)), number(fields.get(5))),
        new OrderTotals(number(fields.get(6)), number(fields.get(7))));
  }

  /** An absent value counts as 0, and so does one that is no number: the ledger shows it. */
  private static long number(Object value) {
    try {
      return Long.parseLong(String.valueOf(value));
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  /**
   * The counters of one SKU in Redis.
   *
   * @param epoch 0 while a preheat loads it
   * @param stock units admissible; 0 while it is being loaded
   * @param seq admissions so far, on the scale of {@link DatabaseSaleCounters#settled}
   * @param admitted all orders admitted, including the orders stored in earlier epochs
   * @param published those of the admitted orders that the broker has confirmed
   */
  record RedisSaleCounters(
      long skuId, long stock, long epoch, long seq, OrderTotals admitted, OrderTotals published) {

    /**
     * Stands for a sale that Redis does not have: only decided orders and dead letters are known to
     * be admitted, and none is in flight.
     */
    static RedisSaleCounters absent(DatabaseSaleCounters mysql, long stock) {
      OrderTotals dead = mysql.of(Item.DEAD_LETTERS);
      OrderTotals known = mysql.decided().plus(dead);
      return new RedisSaleCounters(
          mysql.skuId(), stock, mysql.epoch(), mysql.settled() + dead.orders(), known, known);
    }

    /**
     * Stands for a strong sale, which is not in Redis: MySQL's stock is on sale, the orders that
     * MySQL has counted are admitted, and none is in flight.
     */
    static RedisSaleCounters none(DatabaseSaleCounters mysql) {
      OrderTotals counted = new OrderTotals(mysql.settled(), mysql.decided().units());
      return new RedisSaleCounters(
          mysql.skuId(), mysql.stock(), mysql.epoch(), mysql.settled(), counted, counted);
    }

    /** Admitted and not counted as published: in the outbox or in a private queue. */
    OrderTotals awaitingRelay() {
      return admitted.minus(published);
    }
  }
}
