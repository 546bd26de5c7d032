package io.seckill.common.sale;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import redis.clients.jedis.UnifiedJedis;

/**
 * One loading of a sale into Redis: {@link #begin} takes it off sale, {@link #clear} removes the
 * data of earlier epochs, the {@link #loader} writes quotas and orders, {@link #finish} puts it on
 * sale. Every step checks the epoch, so that a crash, or a second loading, leaves either the old
 * sale or an unfinished one that admits nothing; the next loading starts over. Every method blocks.
 */
public final class SaleLoading {

  /** Bucket hashes removed by one call: 4 kinds of 64 buckets. */
  private static final int BUCKETS_PER_CLEAR = 64;

  private static final LuaScript BEGIN = script("loading_begin.lua");
  private static final LuaScript CLEAR = script("loading_clear.lua");
  private static final LuaScript FINISH = script("loading_finish.lua");

  private final UnifiedJedis redis;
  private final SaleToLoad sale;
  private final LoadSettings settings;
  private final SaleExpiry expiry;

  public SaleLoading(UnifiedJedis redis, SaleToLoad sale, LoadSettings settings) {
    this.redis = redis;
    this.sale = sale;
    this.settings = settings;
    this.expiry = SaleExpiry.of(sale.closesAt(), settings.retention());
  }

  /**
   * Which data a loading may replace; never that of a running sale, which must be stopped first.
   */
  public enum Replacing {
    /** Only the data of a sale without orders in flight. */
    AT_REST,
    /** Any data: it is known to be lost or wrong, and the only information left is in MySQL. */
    ANYTHING
  }

  /** Outcome of {@link #begin}. */
  public sealed interface Begun {

    /**
     * @param bucketsToClear number of buckets of earlier epochs and of this one
     */
    record Loading(int bucketsToClear) implements Begun {}

    /**
     * @param state OPEN or PAUSED
     */
    record Running(String state) implements Begun {}

    /** Orders are in flight to MySQL. */
    record Moving() implements Begun {}

    /** Redis has a key of another type under that name. */
    record Foreign(String key) implements Begun {}
  }

  /**
   * Takes the SKU off sale and writes its new rules.
   *
   * @throws LoadingOvertakenException when a later loading has begun
   */
  public Begun begin(StoredOrderCount stored, Replacing replacing) {
    List<String> args =
        new ArrayList<>(
            List.of(
                Long.toString(sale.epoch()),
                Integer.toString(sale.buckets()),
                Long.toString(expiry.rulesMs()),
                Long.toString(sale.lastSeq()),
                Long.toString(stored.orders()),
                Long.toString(stored.units()),
                replacing.name()));
    rules()
        .forEach(
            (field, value) -> {
              args.add(field);
              args.add(value);
            });
    List<?> reply = (List<?>) BEGIN.call(redis, keys(), args);
    String word = String.valueOf(reply.get(0));
    return switch (word) {
      case "OK" -> new Begun.Loading(Integer.parseInt(String.valueOf(reply.get(1))));
      case "SALE_RUNNING" -> new Begun.Running(String.valueOf(reply.get(1)));
      case "ORDERS_IN_FLIGHT" -> new Begun.Moving();
      case "WRONG_TYPE" -> new Begun.Foreign(String.valueOf(reply.get(1)));
      case "STALE_EPOCH" -> throw new LoadingOvertakenException(sale.skuId());
      default ->
          throw new IllegalStateException("loading_begin.lua and its caller disagree: " + reply);
    };
  }

  private Map<String, String> rules() {
    return Map.of(
        "policy", sale.policy().name(),
        "limit", Integer.toString(sale.limitPerUser()),
        "maxPerOrder", Integer.toString(settings.maxPerOrder()),
        "opensAt", Long.toString(sale.opensAt().toEpochMilli()),
        "closesAt", Long.toString(sale.closesAt().toEpochMilli()),
        "expiresAt", Long.toString(expiry.restMs()));
  }

  /**
   * Removes the hashes of buckets 0..count-1, some per call so that Redis can serve other clients
   * in between.
   *
   * @throws LoadingOvertakenException when a later loading has begun
   */
  public void clear(int count) {
    for (int from = 0; from < count; from += BUCKETS_PER_CLEAR) {
      List<String> keys = new ArrayList<>();
      keys.add(RedisKeys.sku(sale.skuId()));
      for (int b = from; b < Math.min(count, from + BUCKETS_PER_CLEAR); b++) {
        keys.addAll(RedisKeys.hashesOfBucket(sale.skuId(), b));
      }
      refuseOvertaken(CLEAR.call(redis, keys, List.of(Long.toString(sale.epoch()))));
    }
  }

  /** Returns a loader for the hashes of this sale. */
  public SaleLoader loader() {
    return new SaleLoader(redis, sale, expiry.restMs());
  }

  /**
   * Puts the SKU on sale.
   *
   * @param contained stock changes that the loaded stock includes already, id to outcome
   * @param state PREHEATED, OPEN, PAUSED or CLOSED; a pending stop takes precedence
   * @throws LoadingOvertakenException when a later loading has begun
   */
  public void finish(Map<String, String> contained, String state) {
    List<String> args =
        new ArrayList<>(
            List.of(
                Long.toString(sale.epoch()),
                Long.toString(sale.stock()),
                Long.toString(sale.skuId()),
                Long.toString(expiry.restMs()),
                state));
    contained.forEach(
        (id, outcome) -> {
          args.add(id);
          args.add(outcome);
        });
    List<String> keys = new ArrayList<>(keys());
    keys.add(RedisKeys.stops(Partition.ofSku(sale.skuId())));
    refuseOvertaken(FINISH.call(redis, keys, args));
  }

  private void refuseOvertaken(Object reply) {
    if (!Long.valueOf(1).equals(reply)) {
      throw new LoadingOvertakenException(sale.skuId());
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

  private static LuaScript script(String name) {
    return LuaScript.from(SaleLoading.class, name);
  }
}
