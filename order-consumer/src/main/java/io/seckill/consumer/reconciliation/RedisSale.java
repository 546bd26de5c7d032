package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.SaleStates;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.products.SaleExtension;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/**
 * Reads a sale's keys, and replaces wrong values in them. Every write names the value it replaces,
 * and does nothing when the value has changed since. Every method throws JedisException when Redis
 * does not answer; {@link #changes} and {@link #part} throw {@link UnreadableFieldException}.
 */
@Component
class RedisSale {

  /** Fewer than the findings that a comparison keeps. */
  private static final long UNITS_OF_A_PART = 7_000;

  /** A bucket may also have orders that have ended. */
  private static final int BUCKETS_OF_A_PART = 256;

  private static final LuaScript SET_STOCK = script("set_stock.lua");
  private static final LuaScript SET_PUBLISHED = script("set_published.lua");
  private static final LuaScript SET_QUOTAS = script("set_quotas.lua");
  private static final LuaScript RESTORE = script("restore_orders.lua");
  private static final LuaScript COUNT_LATE = script("count_late.lua");
  private static final LuaScript SET_STATE = script("set_state.lua");
  private static final LuaScript REMOVE = script("remove_sale.lua");

  private final UnifiedJedis redis;

  RedisSale(UnifiedJedis redis) {
    this.redis = redis;
  }

  private static LuaScript script(String name) {
    return LuaScript.from(RedisSale.class, name);
  }

  RedisSaleState state(long sku) {
    return RedisSaleState.read(redis, sku);
  }

  Map<Long, RedisSaleState> states(List<Long> skus) {
    return RedisSaleState.readAll(redis, skus);
  }

  /**
   * Completes an edit of the closing time, or an opening, that the sale has missed. Returns whether
   * it has. A stop that Redis alone has stays in force.
   */
  boolean complete(ProductSnapshot sale, RedisSaleState seen) {
    if (seen.isAbsent()) {
      return false;
    }
    boolean isEarlier = seen.number("closesAt") < sale.closesAt().toEpochMilli();
    if (isEarlier) {
      new SaleExtension(redis).extend(sale.skuId(), sale.closesAt(), sale.expiry());
    }
    boolean isUnopened =
        sale.state().equals("OPEN") && seen.number("stateVersion") < sale.stateVersion();
    if (isUnopened) {
      new SaleStates(redis).follow(sale.skuId(), "OPEN", sale.epoch(), sale.stateVersion(), null);
    }
    return isEarlier || isUnopened;
  }

  /** Stock changes of an epoch that Redis's stock contains, by id. */
  Map<String, Long> changes(long sku, long epoch) {
    Map<String, Long> changes = new HashMap<>();
    SaleHashes.pageByPage(
        redis,
        sku,
        List.of(RedisKeys.stockChanges(sku)),
        (id, outcome) -> {
          String[] part = outcome.split(":", -1);
          if (part.length == 3 && part[0].equals(Long.toString(epoch)) && part[2].equals("A")) {
            changes.put(id, Long.parseLong(part[1]));
          }
        });
    return changes;
  }

  /**
   * Returns the last bucket of the part that begins with a bucket. A part has the orders of some
   * {@value #UNITS_OF_A_PART} units if all were sold, or one bucket.
   */
  static int lastOfPart(ProductSnapshot sale, int from, int buckets) {
    long most = UNITS_OF_A_PART * buckets / Math.max(1, sale.units());
    return (int) Math.min(buckets, from + Math.max(1, Math.min(most, BUCKETS_OF_A_PART))) - 1;
  }

  /**
   * Reads each bucket of a sale with quotas at one moment: an admission, or a compensation, after
   * that changes the quota that was read, so a repair based on that quota replaces nothing. Quotas
   * bound such a bucket. One without may have any size; the sale's stock and sequence guard its
   * repairs.
   *
   * @param to last bucket, included
   */
  RedisPart part(ProductSnapshot sale, int from, int to) {
    List<String> keys =
        IntStream.rangeClosed(from, to)
            .mapToObj(bucket -> RedisKeys.bucket(sale.skuId(), bucket))
            .toList();
    RedisPart part = new RedisPart();
    if (sale.policy().keepsQuota()) {
      SaleHashes.atOnce(redis, keys, part::add);
    } else {
      SaleHashes.pageByPage(redis, sale.skuId(), keys, part::add);
    }
    part.joinRequests();
    return part;
  }

  /** A field of one of a sale's buckets, with a name that {@link RedisKeys} forms. */
  record Field(int bucket, String name) {}

  Set<Field> absent(long sku, Collection<Field> fields) {
    Map<Field, Response<Boolean>> answers = new LinkedHashMap<>();
    try (AbstractPipeline pipeline = redis.pipelined()) {
      for (Field field : fields) {
        answers.put(field, pipeline.hexists(RedisKeys.bucket(sku, field.bucket()), field.name()));
      }
      pipeline.sync();
    }
    answers.values().removeIf(exists -> PipelineReplies.get(exists));
    return answers.keySet();
  }

  /** Returns whether the stock was replaced; not after an admission or change since the read. */
  boolean setStock(ProductSnapshot sale, RedisSaleState seen, long wanted) {
    List<String> keys = List.of(RedisKeys.sku(sale.skuId()), RedisKeys.stock(sale.skuId()));
    String found = seen.stock() == null ? "" : seen.stock();
    List<String> values = texts(sale.epoch(), seen.seq(), seen.number("changeSeq"), found, wanted);
    return isDone(SET_STOCK.call(redis, keys, values));
  }

  /** Returns whether all admitted orders now count as published; none may be in Redis's lists. */
  boolean setPublished(ProductSnapshot sale, RedisSaleState seen) {
    return isDone(
        SET_PUBLISHED.call(
            redis, key(sale), texts(sale.epoch(), seen.seq(), seen.text("publishedOrders"))));
  }

  /** Returns for each of these quotas, all of one bucket, whether it was replaced. */
  List<Boolean> setQuotas(ProductSnapshot sale, int bucket, List<WrongQuota> quotas) {
    List<String> args = new ArrayList<>(texts(sale.epoch()));
    quotas.forEach(
        quota ->
            args.addAll(
                texts(RedisKeys.quotaField(quota.userId()), quota.found(), quota.wanted())));
    List<?> reply = (List<?>) SET_QUOTAS.call(redis, keys(sale, bucket), args);
    return reply.stream().map(RedisSale::isDone).toList();
  }

  /**
   * A wrong quota.
   *
   * @param found as it was read, "" for none
   * @param stored in MySQL when it was compared
   */
  record WrongQuota(long userId, String found, long wanted, long stored) {}

  /** Writes orders of one bucket that Redis lacks, with their requests unless they are aliases. */
  void restore(ProductSnapshot sale, int bucket, Map<OrderId, AdmissionRecord> orders) {
    List<String> args = new ArrayList<>(texts(sale.epoch()));
    orders.forEach(
        (id, order) -> {
          String request = request(order);
          args.add(id.toString());
          args.add(order.format());
          args.add(request == null ? "" : request);
          args.add(request == null ? "" : id + ":" + order.quantity());
        });
    RESTORE.call(redis, keys(sale, bucket), args);
  }

  /** The field of an order's request; null for an alias. */
  static @Nullable String request(AdmissionRecord order) {
    return order.requestId() == null
        ? null
        : RedisKeys.requestField(order.userId(), order.requestId());
  }

  /** Whether it counted these late orders; not after other ones, or a loss, since the read. */
  boolean countLate(ProductSnapshot sale, RedisSaleState seen, Late late) {
    String before = seen.text("late");
    List<String> values =
        texts(sale.epoch(), before, seen.seq(), late.places(), late.orders(), late.units());
    return isDone(COUNT_LATE.call(redis, key(sale), values));
  }

  /**
   * Orders that MySQL has, and Redis's counters lack.
   *
   * @param places missing in the sequence
   */
  record Late(long places, long orders, long units) {

    boolean isNone() {
      return places == 0 && orders == 0 && units == 0;
    }
  }

  /**
   * Removes rules and stock, without which nothing is admitted; the buckets expire. Not of a sale
   * that has been loaded with a later epoch.
   */
  void remove(ProductSnapshot sale) {
    var unused =
        REMOVE.call(
            redis,
            List.of(RedisKeys.sku(sale.skuId()), RedisKeys.stock(sale.skuId())),
            texts(sale.epoch()));
  }

  /** Returns whether the state was replaced; an absent sale gets no field but the state. */
  boolean setState(ProductSnapshot sale, RedisSaleState seen, String state) {
    return isDone(
        SET_STATE.call(
            redis,
            key(sale),
            texts(seen.text("epoch"), seen.state(), state, sale.expiry().rulesMs())));
  }

  private static List<String> key(ProductSnapshot sale) {
    return List.of(RedisKeys.sku(sale.skuId()));
  }

  private static List<String> keys(ProductSnapshot sale, int bucket) {
    return List.of(RedisKeys.sku(sale.skuId()), RedisKeys.bucket(sale.skuId(), bucket));
  }

  private static List<String> texts(Object... values) {
    return Stream.of(values).map(String::valueOf).toList();
  }

  private static boolean isDone(Object reply) {
    return Long.valueOf(1).equals(reply);
  }
}
