package io.seckill.consumer.loading;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.loading.SaleLoader.Replacing;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import redis.clients.jedis.UnifiedJedis;

/**
 * One loading of a sale into Redis: {@link #probe} may come first, {@link #begin} takes it off
 * sale, {@link #clear} removes the data of earlier epochs, the {@link #writer} writes quotas and
 * orders, {@link #finish} puts it on sale. Every step checks the epoch, and that Redis is the same
 * server, so that a crash, a failover, or a second loading leaves either the old sale or an
 * unfinished one that admits nothing; the next loading starts over. Every method blocks.
 */
record SaleLoading(UnifiedJedis redis, ProductSnapshot sale, int buckets) {

  private static final int BUCKETS_PER_CLEAR = 256;

  private static final LuaScript PROBE = script("loading_probe.lua");
  private static final LuaScript BEGIN = script("loading_begin.lua");
  private static final LuaScript CLEAR = script("loading_clear.lua");
  private static final LuaScript FINISH = script("loading_finish.lua");

  /**
   * Checks that Redis accepts writes now, and that nothing else is in place of the sale's keys.
   *
   * @throws ProblemException 409 FOREIGN_KEY
   * @throws redis.clients.jedis.exceptions.JedisException when Redis refuses writes
   */
  void probe() {
    List<?> reply = (List<?>) PROBE.call(redis, keysWithStops(), List.of());
    if (reply.size() > 1) {
      throw foreign(reply.get(1));
    }
  }

  /**
   * Takes the SKU off sale and writes its new rules.
   *
   * @return number of buckets to clear: those of earlier epochs and of this one
   * @throws ProblemException 409 SALE_RUNNING, ORDERS_IN_FLIGHT, FOREIGN_KEY, PREHEAT_OVERTAKEN
   */
  int begin(OrderTotals stored, Replacing replacing) {
    List<String> args =
        new ArrayList<>(
            List.of(
                Long.toString(sale.epoch()),
                Integer.toString(buckets),
                Long.toString(sale.expiry().rulesMs()),
                Long.toString(sale.lastSeq()),
                Long.toString(stored.orders()),
                Long.toString(stored.units()),
                replacing.name()));
    rules(sale)
        .forEach(
            (field, value) -> {
              args.add(field);
              args.add(value);
            });
    List<?> reply = (List<?>) BEGIN.call(redis, keys(), args);
    String word = String.valueOf(reply.get(0));
    return switch (word) {
      case "OK" -> Integer.parseInt(String.valueOf(reply.get(1)));
      case "SALE_RUNNING" -> throw running(String.valueOf(reply.get(1)));
      case "ORDERS_IN_FLIGHT" ->
          throw inFlight("Orders of this SKU are still on their way to MySQL.");
      case "WRONG_TYPE" -> throw foreign(reply.get(1));
      case "STALE_EPOCH" -> throw overtaken();
      default ->
          throw new IllegalStateException("loading_begin.lua and its caller disagree: " + reply);
    };
  }

  /** The state is OPEN or PAUSED. */
  static ProblemException running(String state) {
    return ProblemException.ofSale(
        ProblemCode.SALE_RUNNING,
        "Close the sale before it is preheated again. If Redis has lost it, reconcile it.",
        state);
  }

  /** The same of an epoch that MySQL has lost; a sale that is new in MySQL cannot be closed. */
  static ProblemException runningAlone(String state) {
    return ProblemException.ofSale(
        ProblemCode.SALE_RUNNING,
        "MySQL has lost the last preheat of this sale, which runs in Redis: reconcile it with look,"
            + " then with repair.",
        state);
  }

  static ProblemException inFlight(String detail) {
    return ProblemException.of(ProblemCode.ORDERS_IN_FLIGHT, detail);
  }

  private static ProblemException foreign(Object key) {
    return ProblemException.of(
        ProblemCode.FOREIGN_KEY, "Redis holds something else at " + key + "; remove it first.");
  }

  /**
   * A later loading of the same sale has begun, or another Redis server has taken over, which may
   * lack what this one has written; this loading has written nothing since then.
   */
  static ProblemException overtaken() {
    return ProblemException.of(ProblemCode.PREHEAT_OVERTAKEN);
  }

  /** Whether the rules that this loading has written are still those of the sale. */
  boolean hasRulesOf(ProductSnapshot now) {
    return rules(sale).equals(rules(now));
  }

  private static Map<String, String> rules(ProductSnapshot sale) {
    return Map.of(
        "policy", sale.policy().name(),
        "limit", Integer.toString(sale.limitPerUser()),
        "maxPerOrder", Integer.toString(sale.maxPerOrder()),
        "opensAt", Long.toString(sale.opensAt().toEpochMilli()),
        "closesAt", Long.toString(sale.closesAt().toEpochMilli()),
        "expiresAt", Long.toString(sale.expiry().restMs()));
  }

  /**
   * Removes the buckets 0..count-1, some per call so that Redis can serve other clients in between.
   *
   * @throws ProblemException 409 PREHEAT_OVERTAKEN
   */
  void clear(int count) {
    for (int from = 0; from < count; from += BUCKETS_PER_CLEAR) {
      List<String> keys = new ArrayList<>();
      keys.add(RedisKeys.sku(sale.skuId()));
      for (int b = from; b < Math.min(count, from + BUCKETS_PER_CLEAR); b++) {
        keys.add(RedisKeys.bucket(sale.skuId(), b));
      }
      refuseOvertaken(CLEAR.call(redis, keys, List.of(Long.toString(sale.epoch()))));
    }
  }

  BucketWriter writer() {
    return new BucketWriter(redis, sale, buckets);
  }

  /**
   * Puts the SKU on sale.
   *
   * @param loaded the sale as the last snapshot has it
   * @param stock units admissible
   * @param stored all orders of the sale
   * @param contained stock changes that the loaded stock includes already, id to outcome
   * @param state PREHEATED, OPEN, PAUSED or CLOSED; a pending stop takes precedence
   * @throws ProblemException 409 PREHEAT_OVERTAKEN
   */
  void finish(
      ProductSnapshot loaded,
      long stock,
      OrderTotals stored,
      Map<String, String> contained,
      String state) {
    List<String> args =
        new ArrayList<>(
            List.of(
                Long.toString(sale.epoch()),
                Long.toString(stock),
                Long.toString(sale.skuId()),
                Long.toString(sale.expiry().restMs()),
                state,
                Long.toString(loaded.lastSeq()),
                Long.toString(stored.orders()),
                Long.toString(stored.units())));
    contained.forEach(
        (id, outcome) -> {
          args.add(id);
          args.add(outcome);
        });
    refuseOvertaken(FINISH.call(redis, keysWithStops(), args));
  }

  private void refuseOvertaken(Object reply) {
    if (!Long.valueOf(1).equals(reply)) {
      throw overtaken();
    }
  }

  private List<String> keys() {
    long sku = sale.skuId();
    return List.of(
        RedisKeys.sku(sku),
        RedisKeys.stock(sku),
        RedisKeys.skus(Partition.ofSku(sku)),
        RedisKeys.stockChanges(sku));
  }

  private List<String> keysWithStops() {
    List<String> keys = new ArrayList<>(keys());
    keys.add(RedisKeys.stops(Partition.ofSku(sale.skuId())));
    return keys;
  }

  private static LuaScript script(String name) {
    return LuaScript.from(SaleLoading.class, name);
  }
}
