package io.seckill.consumer.consistency;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.catalogue.ProductSnapshot;
import io.seckill.consumer.consistency.RedisPart.Units;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/**
 * Reads a sale's keys, and replaces wrong values in them. Every write names the value it replaces,
 * and does nothing when the value has changed since. Every method throws JedisException when Redis
 * does not answer.
 *
 * <p>{@link #changes} and {@link #part} throw {@link UnreadableFieldException}.
 */
@Component
class RedisSale {

  private static final int HASHES_PER_BUCKET = 4;
  private static final int BUCKETS_PER_PIPELINE = 64;

  private static final LuaScript SET_STOCK = script("set_stock.lua");
  private static final LuaScript SET_PUBLISHED = script("set_published.lua");
  private static final LuaScript SET_QUOTAS = script("set_quotas.lua");
  private static final LuaScript RESTORE = script("restore_orders.lua");
  private static final LuaScript COUNT_LATE = script("count_late.lua");
  private static final LuaScript SET_STATE = script("set_state.lua");

  private final UnifiedJedis redis;

  RedisSale(UnifiedJedis redis) {
    this.redis = redis;
  }

  private static LuaScript script(String name) {
    return LuaScript.from(RedisSale.class, name);
  }

  /** Reads the stock first: an admission in between shows in the sequence. */
  RedisSaleState state(long sku) {
    String stock = redis.get(RedisKeys.stock(sku));
    return new RedisSaleState(redis.hgetAll(RedisKeys.sku(sku)), stock);
  }

  /** Stock changes of an epoch that Redis's stock contains, by id. */
  Map<String, Long> changes(long sku, long epoch) {
    Map<String, Long> changes = new HashMap<>();
    String key = RedisKeys.stockChanges(sku);
    readEach(
        key,
        redis.hgetAll(key),
        (id, outcome) -> {
          String[] part = outcome.split(":", -1);
          if (part.length == 3 && part[0].equals(Long.toString(epoch)) && part[2].equals("A")) {
            changes.put(id, Long.parseLong(part[1]));
          }
        });
    return changes;
  }

  /**
   * Reads quotas before records before compensations: an admission, or a compensation, in between
   * has changed the quota that was read, so a repair based on that quota replaces nothing.
   *
   * @param from first bucket
   * @param to last bucket, included
   */
  RedisPart part(long sku, int from, int to) {
    RedisPart part =
        new RedisPart(new HashMap<>(), new HashMap<>(), new HashMap<>(), new HashMap<>());
    for (int first = from; first <= to; first += BUCKETS_PER_PIPELINE) {
      read(sku, first, Math.min(to, first + BUCKETS_PER_PIPELINE - 1), part);
    }
    return part;
  }

  private void read(long sku, int from, int to, RedisPart part) {
    List<Response<Map<String, String>>> answers = new ArrayList<>();
    try (AbstractPipeline pipeline = redis.pipelined()) {
      for (int b = from; b <= to; b++) {
        answers.add(pipeline.hgetAll(RedisKeys.quota(sku, b)));
        answers.add(pipeline.hgetAll(RedisKeys.orders(sku, b)));
        answers.add(pipeline.hgetAll(RedisKeys.compensated(sku, b)));
        answers.add(pipeline.hgetAll(RedisKeys.requests(sku, b)));
      }
      pipeline.sync();
    }
    for (int b = from; b <= to; b++) {
      int i = (b - from) * HASHES_PER_BUCKET;
      readEach(
          RedisKeys.quota(sku, b),
          PipelineReplies.get(answers.get(i)),
          (user, units) -> part.quotas().put(Long.valueOf(user), units));
      readEach(
          RedisKeys.orders(sku, b),
          PipelineReplies.get(answers.get(i + 1)),
          (id, text) -> part.records().put(OrderId.parse(id), AdmissionRecord.parse(text)));
      readEach(
          RedisKeys.compensated(sku, b),
          PipelineReplies.get(answers.get(i + 2)),
          (id, units) -> part.compensated().put(OrderId.parse(id), Units.parse(units)));
      part.requests().putAll(PipelineReplies.get(answers.get(i + 3)));
    }
  }

  private static void readEach(
      String key, Map<String, String> fields, BiConsumer<String, String> read) {
    fields.forEach(
        (field, value) -> {
          try {
            read.accept(field, value);
          } catch (IllegalArgumentException e) {
            throw new UnreadableFieldException(key, field, e);
          }
        });
  }

  /** Returns whether the stock was replaced; an admission since it was read prevents that. */
  boolean setStock(ProductSnapshot sale, RedisSaleState seen, long wanted) {
    List<String> keys = List.of(RedisKeys.sku(sale.skuId()), RedisKeys.stock(sale.skuId()));
    String found = seen.stock() == null ? "" : seen.stock();
    return isDone(SET_STOCK.call(redis, keys, texts(sale.epoch(), seen.seq(), found, wanted)));
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
    quotas.forEach(quota -> args.addAll(texts(quota.userId(), quota.found(), quota.wanted())));
    List<String> keys = List.of(RedisKeys.sku(sale.skuId()), RedisKeys.quota(sale.skuId(), bucket));
    List<?> reply = (List<?>) SET_QUOTAS.call(redis, keys, args);
    return reply.stream().map(RedisSale::isDone).toList();
  }

  /**
   * A quota that is not what it should be.
   *
   * @param found as it was read, "" for none
   */
  record WrongQuota(long userId, String found, long wanted) {}

  /** Writes orders of one bucket that Redis lacks, with their requests unless they are aliases. */
  void restore(ProductSnapshot sale, int bucket, Map<OrderId, AdmissionRecord> orders) {
    List<String> args = new ArrayList<>(texts(sale.epoch()));
    orders.forEach(
        (id, order) -> {
          boolean alias = order.storedOrderId() != null;
          args.add(id.toString());
          args.add(order.format());
          args.add(alias ? "" : request(order));
          args.add(alias ? "" : id + ":" + order.quantity());
        });
    List<String> keys =
        List.of(
            RedisKeys.sku(sale.skuId()),
            RedisKeys.orders(sale.skuId(), bucket),
            RedisKeys.requests(sale.skuId(), bucket));
    RESTORE.call(redis, keys, args);
  }

  /** The hash field of an order's request. */
  static String request(AdmissionRecord order) {
    return order.userId() + ":" + order.requestId();
  }

  /** Returns whether it counted these late orders; not if others were counted since the read. */
  boolean countLate(ProductSnapshot sale, RedisSaleState seen, Late late) {
    return isDone(
        COUNT_LATE.call(
            redis,
            key(sale),
            texts(sale.epoch(), seen.text("late"), late.places(), late.orders(), late.units())));
  }

  /**
   * Orders that MySQL knows, and Redis's counters do not.
   *
   * @param places missing in the sequence
   * @param orders missing among those admitted
   * @param units missing among those admitted
   */
  record Late(long places, long orders, long units) {

    boolean isNone() {
      return places == 0 && orders == 0 && units == 0;
    }
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

  private static List<String> texts(Object... values) {
    return Stream.of(values).map(String::valueOf).toList();
  }

  private static boolean isDone(Object reply) {
    return Long.valueOf(1).equals(reply);
  }
}
