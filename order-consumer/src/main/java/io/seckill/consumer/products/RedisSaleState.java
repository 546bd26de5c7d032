package io.seckill.consumer.products;

import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * A sale's hash and stock as Redis has them; empty and null when Redis has none.
 *
 * @param stock units admissible, as text; null also when it was not read
 */
public record RedisSaleState(Map<String, String> fields, @Nullable String stock) {

  /** The state while a sale is loaded, or a rebuild waits to load it: nothing is admitted. */
  public static final String LOADING = "PREHEATING";

  /** Reads the stock first: an admission in between shows in the sequence. */
  public static RedisSaleState read(UnifiedJedis redis, long sku) {
    String stock = redis.get(RedisKeys.stock(sku));
    return new RedisSaleState(redis.hgetAll(RedisKeys.sku(sku)), stock);
  }

  /**
   * Reads several sales, all on one server, in one round trip. The result lacks a sale whose keys
   * cannot be read.
   */
  public static Map<Long, RedisSaleState> readAll(UnifiedJedis redis, List<Long> skus) {
    List<Asked> asked;
    try (AbstractPipeline pipeline = redis.pipelined()) {
      asked = skus.stream().map(sku -> Asked.in(pipeline, sku)).toList();
      pipeline.sync();
    }
    Map<Long, RedisSaleState> read = new HashMap<>();
    asked.forEach(one -> one.state().ifPresent(state -> read.put(one.sku(), state)));
    return read;
  }

  private record Asked(long sku, Response<String> stock, Response<Map<String, String>> fields) {

    /** In the order of {@link RedisSaleState#read}. */
    static Asked in(AbstractPipeline pipeline, long sku) {
      Response<String> stock = pipeline.get(RedisKeys.stock(sku));
      return new Asked(sku, stock, pipeline.hgetAll(RedisKeys.sku(sku)));
    }

    Optional<RedisSaleState> state() {
      try {
        return Optional.of(
            new RedisSaleState(PipelineReplies.get(fields), PipelineReplies.get(stock)));
      } catch (JedisDataException e) {
        return Optional.empty();
      }
    }
  }

  /** Reads the hash alone. */
  public static RedisSaleState readRules(UnifiedJedis redis, long sku) {
    return new RedisSaleState(redis.hgetAll(RedisKeys.sku(sku)), null);
  }

  public boolean isAbsent() {
    return fields.isEmpty();
  }

  public String state() {
    return text("state");
  }

  /** The epoch that is loaded, 0 while one is being loaded. */
  public long epoch() {
    return number("epoch");
  }

  /** The highest epoch that Redis has seen, loaded or loading. */
  public long highestEpoch() {
    return Math.max(number("epoch"), number("loading"));
  }

  /** Whether MySQL, which has this epoch, has lost a later one: it was restored from a backup. */
  public boolean isNewerThan(long epoch) {
    return highestEpoch() > epoch;
  }

  public long seq() {
    return number("seq");
  }

  public int bucketCount() {
    return (int) number("bucketCount");
  }

  /** Units of all orders, also of earlier epochs. */
  public long admittedUnits() {
    return number("admittedUnits");
  }

  /** Orders admitted that were not counted as published. */
  public long unpublished() {
    return number("admittedOrders") - number("publishedOrders");
  }

  /** Whether it sells, or would after a resume: no other loading may begin. */
  public boolean isRunning() {
    return state().equals("OPEN") || state().equals("PAUSED");
  }

  /** Whether a loading has begun and not ended, or a rebuild waits to begin it. */
  public boolean isLoading() {
    return state().equals(LOADING);
  }

  /** Whether this sale, which does not run, is loaded under the epoch that it has in MySQL. */
  public boolean isPreheatOf(ProductSnapshot sale) {
    return !sale.isRunning() && isLoading() && number("loading") == sale.epoch();
  }

  /**
   * Whether Redis has another epoch than MySQL, or has lost admissions or changes of the stock. Of
   * a sale that a former release has loaded, and only of that, Redis has no number of changes;
   * MySQL may then have the number of an earlier epoch.
   *
   * @param epoch of the sale in MySQL
   * @param seq highest sequence number of its orders in MySQL
   * @param changeSeq number of the last change of its stock that MySQL has from Redis
   */
  public boolean isBehind(long epoch, long seq, long changeSeq) {
    return epoch() != epoch
        || seq() < seq
        || (fields.containsKey("changeSeq") && number("changeSeq") < changeSeq);
  }

  /** Whether the number of the last order is wrong: no Redis can have admitted so many. */
  public boolean isTooFarAhead(long seqInMySql) {
    return seq() - seqInMySql > ProductRows.MOST_AHEAD;
  }

  /** Whether it is lost, of a sale that Redis has to have. */
  public boolean needsRebuild(ProductSnapshot sale) {
    return sale.isWanted() && isLostOf(sale);
  }

  /** Whether this is older than MySQL's sale, unfinished, incomplete or wrong. */
  public boolean isLostOf(ProductSnapshot sale) {
    return isAbsent()
        || isLoading()
        || isBehind(sale.epoch(), sale.lastSeq(), sale.changeSeq())
        || isTooFarAhead(sale.lastSeq())
        || bucketCount() < 1
        || stock == null
        || !stock.matches("\\d{1,14}")
        || !fields.containsKey("policy")
        || !fields.containsKey("expiresAt");
  }

  /** A field of the hash, "" for none. */
  public String text(String field) {
    return fields.getOrDefault(field, "");
  }

  /** A field of the hash, 0 when it is no number. */
  public long number(String field) {
    String text = text(field);
    return text.matches("\\d{1,18}") ? Long.parseLong(text) : 0;
  }
}
