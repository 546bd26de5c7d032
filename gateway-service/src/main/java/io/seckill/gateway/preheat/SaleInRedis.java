package io.seckill.gateway.preheat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.consumer.Product;
import io.seckill.gateway.consumer.SaleState;
import io.seckill.gateway.web.Problem;
import io.seckill.gateway.web.ProblemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.args.ExpiryOption;

/** One SKU's keys in Redis, as preheat and operators change them. Every method blocks. */
@Component
class SaleInRedis {

  static final String SALE_RUNNING = "SALE_RUNNING";
  static final String ORDERS_IN_FLIGHT = "ORDERS_IN_FLIGHT";
  static final String PREHEAT_OVERTAKEN = "PREHEAT_OVERTAKEN";
  static final String FOREIGN_KEY = "FOREIGN_KEY";
  static final String NOT_PREHEATED = "NOT_PREHEATED";

  /** Units of one bucket at most, so that hashes stay packed (DESIGN section 4). */
  private static final int UNITS_PER_BUCKET = 64;

  /** Bucket hashes removed by one call: 4 kinds of 64 buckets. */
  private static final int BUCKETS_PER_CLEAR = 64;

  private static final LuaScript BEGIN = script("preheat_begin.lua");
  private static final LuaScript CLEAR = script("preheat_clear.lua");
  private static final LuaScript FINISH = script("preheat_finish.lua");
  private static final LuaScript STATE = script("sale_state.lua");
  private static final LuaScript CLOSING = script("sale_closing.lua");

  private final UnifiedJedis redis;
  private final PreheatProperties settings;

  SaleInRedis(UnifiedJedis redis, PreheatProperties settings) {
    this.redis = redis;
    this.settings = settings;
  }

  /** Buckets that keep hashes packed when every unit ever put on sale becomes an order. */
  static int buckets(Product product) {
    long units = Math.max(product.stock(), product.initialStock());
    return (int) Math.max(1, (units + UNITS_PER_BUCKET - 1) / UNITS_PER_BUCKET);
  }

  /**
   * Looks before MySQL raises the epoch; {@link #begin} asks again, atomically.
   *
   * @throws ProblemException 409 SALE_RUNNING, ORDERS_IN_FLIGHT
   */
  void refuseWhileMoving(Product product) {
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
   * Takes the SKU off the shelf and notes its new rules.
   *
   * @return how many buckets of earlier epochs, and of this one, are to be cleared
   * @throws ProblemException 409 when the sale runs, moves, or a later preheat has begun
   */
  int begin(Product product, StoredOrders stored) {
    Expiry expiry = expiry(product);
    List<String> args =
        new ArrayList<>(
            List.of(
                Long.toString(product.epoch()),
                Integer.toString(buckets(product)),
                Long.toString(expiry.rulesMs()),
                Long.toString(product.lastSeq()),
                Long.toString(stored.orders()),
                Long.toString(stored.units())));
    rules(product, expiry)
        .forEach(
            (field, value) -> {
              args.add(field);
              args.add(value);
            });
    List<?> reply = (List<?>) BEGIN.call(redis, keys(product.skuId()), args);
    String word = String.valueOf(reply.get(0));
    return switch (word) {
      case "OK" -> Integer.parseInt(String.valueOf(reply.get(1)));
      case "SALE_RUNNING" -> throw saleRunning(String.valueOf(reply.get(1)));
      case "ORDERS_IN_FLIGHT" -> throw ordersInFlight();
      case "STALE_EPOCH" -> throw overtaken();
      case "WRONG_TYPE" -> throw foreignKey(String.valueOf(reply.get(1)));
      default ->
          throw new IllegalStateException("preheat_begin.lua and its caller disagree: " + reply);
    };
  }

  private Map<String, String> rules(Product product, Expiry expiry) {
    return Map.of(
        "policy", product.policy().name(),
        "limit", Integer.toString(product.limitPerUser()),
        "maxPerOrder", Integer.toString(settings.maxPerOrder()),
        "opensAt", Long.toString(product.opensAt().toEpochMilli()),
        "closesAt", Long.toString(product.closesAt().toEpochMilli()),
        "expiresAt", Long.toString(expiry.restMs()));
  }

  /**
   * Removes the hashes of buckets 0..count-1, some at a time so that Redis serves others between.
   */
  void clear(Product product, int count) {
    for (int from = 0; from < count; from += BUCKETS_PER_CLEAR) {
      List<String> keys = new ArrayList<>();
      keys.add(RedisKeys.sku(product.skuId()));
      for (int b = from; b < Math.min(count, from + BUCKETS_PER_CLEAR); b++) {
        keys.addAll(bucketKeys(product.skuId(), b));
      }
      refuseOvertaken(CLEAR.call(redis, keys, List.of(Long.toString(product.epoch()))));
    }
  }

  /** A loader for the hashes of this preheat. */
  SaleLoader loader(Product product) {
    return new SaleLoader(redis, product, buckets(product), expiry(product).restMs());
  }

  /**
   * Puts the SKU on the shelf.
   *
   * @param contained stock changes that {@code product.stock()} contains already, id to outcome
   */
  void finish(Product product, Map<String, String> contained) {
    List<String> args =
        new ArrayList<>(
            List.of(
                Long.toString(product.epoch()),
                Long.toString(product.stock()),
                Long.toString(product.skuId()),
                Long.toString(expiry(product).restMs())));
    contained.forEach(
        (id, outcome) -> {
          args.add(id);
          args.add(outcome);
        });
    refuseOvertaken(FINISH.call(redis, keys(product.skuId()), args));
  }

  /**
   * Makes Redis follow MySQL's state.
   *
   * @return false when Redis has no loaded sale of this epoch, so that it is not on sale anyway
   */
  boolean follow(Product product, SaleState state) {
    Object reply =
        STATE.call(
            redis,
            List.of(RedisKeys.sku(product.skuId())),
            List.of(state.name(), Long.toString(product.epoch())));
    return switch (String.valueOf(reply)) {
      case "OK" -> true;
      case "ABSENT", "PREHEATING", "OTHER_EPOCH" -> false;
      default -> throw new IllegalStateException("sale_state.lua: " + reply);
    };
  }

  /** Whether Redis holds this epoch of the sale, loaded to the end. */
  boolean isLoaded(Product product) {
    List<@Nullable String> sale = redis.hmget(RedisKeys.sku(product.skuId()), "state", "epoch");
    return !"PREHEATING".equals(sale.get(0)) && Long.toString(product.epoch()).equals(sale.get(1));
  }

  /** Brings a later closing time to Redis, every expiry with it; harmless to repeat. */
  void extend(Product product) {
    Expiry expiry = expiry(product);
    if (closing("prepare", product, expiry) > 0) {
      extendRest(product, expiry);
      closing("finish", product, expiry);
    }
  }

  private long closing(String step, Product product, Expiry expiry) {
    return (Long)
        CLOSING.call(
            redis,
            List.of(RedisKeys.sku(product.skuId())),
            List.of(
                step,
                Long.toString(product.closesAt().toEpochMilli()),
                Long.toString(expiry.restMs()),
                Long.toString(expiry.rulesMs())));
  }

  private void extendRest(Product product, Expiry expiry) {
    long sku = product.skuId();
    List<String> keys = new ArrayList<>();
    keys.add(RedisKeys.stock(sku));
    keys.add(RedisKeys.stockChanges(sku));
    keys.add(RedisKeys.skus(Partition.ofSku(sku)));
    int buckets = (int) number(redis.hget(RedisKeys.sku(sku), "buckets"));
    for (int b = 0; b < buckets; b++) {
      keys.addAll(bucketKeys(sku, b));
    }
    for (int from = 0; from < keys.size(); from += BUCKETS_PER_CLEAR) {
      expireAt(keys.subList(from, Math.min(keys.size(), from + BUCKETS_PER_CLEAR)), expiry);
    }
  }

  private void expireAt(List<String> keys, Expiry expiry) {
    try (AbstractPipeline pipeline = redis.pipelined()) {
      var answers =
          keys.stream()
              .map(key -> pipeline.pexpireAt(key, expiry.restMs(), ExpiryOption.GT))
              .toList();
      pipeline.sync();
      answers.forEach(Response::get); // sync() throws nothing (FACTS 8)
    }
  }

  private Expiry expiry(Product product) {
    return Expiry.of(product.closesAt(), settings.retention());
  }

  private static List<String> keys(long sku) {
    return List.of(
        RedisKeys.sku(sku),
        RedisKeys.stock(sku),
        RedisKeys.skus(Partition.ofSku(sku)),
        RedisKeys.stockChanges(sku));
  }

  private static List<String> bucketKeys(long sku, int bucket) {
    return List.of(
        RedisKeys.quota(sku, bucket),
        RedisKeys.requests(sku, bucket),
        RedisKeys.orders(sku, bucket),
        RedisKeys.given(sku, bucket));
  }

  private static ProblemException foreignKey(String key) {
    return ProblemException.conflict(
        FOREIGN_KEY, "Redis holds something else at " + key + "; remove it first.");
  }

  static void refuseOvertaken(Object reply) {
    if (!Long.valueOf(1).equals(reply)) {
      throw overtaken();
    }
  }

  private static ProblemException overtaken() {
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
    return LuaScript.from(SaleInRedis.class, name);
  }
}
