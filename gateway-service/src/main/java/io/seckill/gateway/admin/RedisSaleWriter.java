package io.seckill.gateway.admin;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleExpiry;
import io.seckill.common.sale.SaleLoading;
import io.seckill.common.sale.SaleLoading.Begun;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.SaleStates.Followed;
import io.seckill.common.sale.SaleToLoad;
import io.seckill.common.sale.StoredOrderCount;
import io.seckill.gateway.backends.ServerSettings;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/** Changes one SKU's keys in Redis for preheats and operators. Every method blocks. */
@Component
class RedisSaleWriter {

  static final String SALE_RUNNING = "SALE_RUNNING";
  static final String ORDERS_IN_FLIGHT = "ORDERS_IN_FLIGHT";
  static final String PREHEAT_OVERTAKEN = "PREHEAT_OVERTAKEN";
  static final String FOREIGN_KEY = "FOREIGN_KEY";
  static final String NOT_PREHEATED = "NOT_PREHEATED";
  static final String REDIS_BEHIND = "REDIS_BEHIND";
  static final String UNSAFE_REDIS = "UNSAFE_REDIS";

  /** Bounds the expiries set by one call: 4 hashes of each of 64 buckets. */
  private static final int BUCKETS_AT_ONCE = 64;

  private static final LuaScript CLOSING = script("sale_closing.lua");

  private final UnifiedJedis redis;
  private final PreheatProperties settings;
  private final ServerSettings server;
  private final SaleStates states;

  RedisSaleWriter(
      UnifiedJedis redis, PreheatProperties settings, ServerSettings server, SaleStates states) {
    this.redis = redis;
    this.settings = settings;
    this.server = server;
    this.states = states;
  }

  /**
   * Checks before a sale begins that Redis retains its data.
   *
   * @throws ProblemException 409 UNSAFE_REDIS, unless the settings allow it
   */
  void refuseUnsafe() {
    List<String> dangers = server.check();
    if (!dangers.isEmpty() && !settings.allowUnsafeRedis()) {
      throw ProblemException.conflict(
          UNSAFE_REDIS, "Redis may forget orders: " + String.join("; ", dangers) + ".");
    }
  }

  /**
   * Refuses a running sale or orders in flight before MySQL raises the epoch; {@link #begin} checks
   * again, atomically.
   *
   * @throws ProblemException 409 SALE_RUNNING, ORDERS_IN_FLIGHT
   */
  void refuseWhileMoving(ProductRow product) {
    List<@Nullable String> sale =
        redis.hmget(RedisKeys.sku(product.skuId()), "state", "seq", "settled");
    String state = sale.get(0);
    if ("OPEN".equals(state) || "PAUSED".equals(state)) {
      throw saleRunning(state);
    }
    long settled = Math.max(number(sale.get(2)), product.lastSeq());
    if (number(sale.get(1)) > settled) {
      throw ordersInFlight();
    }
  }

  /**
   * Takes the SKU off sale, writes its new rules and removes the data of earlier epochs.
   *
   * @throws ProblemException 409 when the sale runs, has orders in flight, or a later preheat has
   *     begun
   */
  SaleLoading begin(ProductRow product, StoredOrderCount stored) {
    SaleLoading loading = new SaleLoading(redis, toLoad(product), settings.loading());
    Begun begun = loading.begin(stored, SaleLoading.Replacing.AT_REST);
    if (begun instanceof Begun.Loading ready) {
      loading.clear(ready.bucketsToClear());
      return loading;
    } else if (begun instanceof Begun.Running running) {
      throw saleRunning(running.state());
    } else if (begun instanceof Begun.Foreign foreign) {
      throw foreignKey(foreign.key());
    }
    throw ordersInFlight();
  }

  private static SaleToLoad toLoad(ProductRow product) {
    return new SaleToLoad(
        product.skuId(),
        product.policy(),
        product.limitPerUser(),
        product.opensAt(),
        product.closesAt(),
        product.epoch(),
        product.stock(),
        product.initialStock(),
        product.lastSeq());
  }

  /** As {@link SaleStates#stop}. */
  boolean stop(long skuId, SaleState target, String operator) {
    return states.stop(new PendingStop(skuId, target.name(), System.currentTimeMillis(), operator));
  }

  /** As {@link SaleStates#follow}. */
  Followed follow(ProductRow product) {
    return states.follow(
        product.skuId(), product.state().name(), product.epoch(), product.stateVersion(), null);
  }

  /** Whether Redis holds this epoch of the sale, completely loaded. */
  boolean isLoaded(ProductRow product) {
    List<@Nullable String> sale = redis.hmget(RedisKeys.sku(product.skuId()), "state", "epoch");
    return !"PREHEATING".equals(sale.get(0)) && Long.toString(product.epoch()).equals(sale.get(1));
  }

  /**
   * Checks before purchases are allowed that Redis has every admission that MySQL knows of.
   *
   * @param product read from MySQL before this call
   * @throws ProblemException 409 REDIS_BEHIND
   */
  void refuseBehind(ProductRow product) {
    if (number(redis.hget(RedisKeys.sku(product.skuId()), "seq")) < product.lastSeq()) {
      throw ProblemException.conflict(
          REDIS_BEHIND, "Redis has lost orders of this sale; reconcile it first.");
    }
  }

  /**
   * Writes a later closing time to Redis, with all the expiries that depend on it, some buckets at
   * a time. May be repeated; a repeat continues where the previous call was interrupted.
   */
  void extend(ProductRow product) {
    long sku = product.skuId();
    List<String> others =
        List.of(
            RedisKeys.stock(sku),
            RedisKeys.stockChanges(sku),
            RedisKeys.skus(Partition.ofSku(sku)));
    Extended extended = closing("prepare", product, others, 0);
    while (extended.done() < extended.buckets()) {
      int to = Math.min(extended.buckets(), extended.done() + BUCKETS_AT_ONCE);
      extended = closing("buckets", product, hashes(sku, extended.done(), to), to);
    }
    closing("finish", product, List.of(), 0);
  }

  /**
   * The progress of an extension.
   *
   * @param buckets number of buckets of the sale; 0 when there is nothing to extend
   * @param done first bucket that is not extended yet
   */
  private record Extended(int buckets, int done) {}

  private Extended closing(String step, ProductRow product, List<String> others, int done) {
    SaleExpiry expiry = SaleExpiry.of(product.closesAt(), settings.retention());
    List<String> keys = new ArrayList<>(List.of(RedisKeys.sku(product.skuId())));
    keys.addAll(others);
    List<?> reply =
        (List<?>)
            CLOSING.call(
                redis,
                keys,
                List.of(
                    step,
                    Long.toString(product.closesAt().toEpochMilli()),
                    Long.toString(expiry.restMs()),
                    Long.toString(expiry.rulesMs()),
                    Integer.toString(done)));
    return new Extended(Math.toIntExact((Long) reply.get(0)), Math.toIntExact((Long) reply.get(1)));
  }

  private static List<String> hashes(long sku, int from, int to) {
    return IntStream.range(from, to)
        .mapToObj(bucket -> RedisKeys.hashesOfBucket(sku, bucket))
        .flatMap(List::stream)
        .toList();
  }

  private static ProblemException foreignKey(String key) {
    return ProblemException.conflict(
        FOREIGN_KEY, "Redis holds something else at " + key + "; remove it first.");
  }

  static ProblemException overtaken() {
    return ProblemException.conflict(PREHEAT_OVERTAKEN, "Another preheat of this SKU has begun.");
  }

  private static ProblemException saleRunning(String state) {
    return new ProblemException(
        new Problem(
            409,
            SALE_RUNNING,
            "Close the sale before it is preheated again.",
            null,
            null,
            state,
            null));
  }

  private static ProblemException ordersInFlight() {
    return ProblemException.conflict(
        ORDERS_IN_FLIGHT, "Orders of this SKU are still on their way to MySQL.");
  }

  private static long number(@Nullable String text) {
    return text == null ? 0 : Long.parseLong(text);
  }

  private static LuaScript script(String name) {
    return LuaScript.from(RedisSaleWriter.class, name);
  }
}
