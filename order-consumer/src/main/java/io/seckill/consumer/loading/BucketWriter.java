package io.seckill.consumer.loading;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.loading.DatabasePart.PendingUnits;
import io.seckill.consumer.products.ProductSnapshot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import redis.clients.jedis.UnifiedJedis;

/**
 * Writes the quotas, requests, records and compensations of earlier orders into a SKU's buckets,
 * some hundred fields per script call and several calls per pipeline. These two numbers bound the
 * memory. Used by one thread, which calls {@link #flush} at the end.
 */
final class BucketWriter {

  private static final LuaScript LOAD = LuaScript.from(BucketWriter.class, "loading_load.lua");

  /** In place of a value: the field is removed. */
  private static final String NOTHING = "";

  private static final int FIELDS_PER_CALL = 500;
  private static final int CALLS_PER_PIPELINE = 16;

  private final UnifiedJedis redis;
  private final long sku;
  private final int buckets;
  private final List<String> fixedArgs;
  private final List<Call> calls = new ArrayList<>();
  private Call filling;

  BucketWriter(UnifiedJedis redis, ProductSnapshot sale, int buckets) {
    this.redis = redis;
    this.sku = sale.skuId();
    this.buckets = buckets;
    this.fixedArgs = List.of(Long.toString(sale.epoch()), Long.toString(sale.expiry().restMs()));
    this.filling = new Call();
  }

  /** Keys and arguments of one script call, while fields are added. */
  private final class Call {
    private final Map<String, Integer> keys = new LinkedHashMap<>();
    private final List<String> args = new ArrayList<>(fixedArgs);
    private int fields;

    Call() {
      keys.put(RedisKeys.sku(sku), 1);
    }

    void add(String key, String field, String value) {
      int number = keys.computeIfAbsent(key, ignored -> keys.size() + 1);
      args.add(Integer.toString(number));
      args.add(field);
      args.add(value);
      fields++;
    }

    List<String> keyList() {
      return List.copyOf(keys.keySet());
    }
  }

  void quota(long userId, long units) {
    add(userId, RedisKeys.quotaField(userId), units == 0 ? NOTHING : Long.toString(units));
  }

  /** Adds an order, and the request that made it unless the order is an alias. */
  void order(OrderId id, AdmissionRecord order) {
    add(order.userId(), id.toString(), order.format());
    if (order.requestId() != null) {
      add(
          order.userId(),
          RedisKeys.requestField(order.userId(), order.requestId()),
          id + ":" + order.quantity());
    }
  }

  /** Removes an order that was added, and its request. */
  void noOrder(OrderId id, AdmissionRecord order) {
    add(order.userId(), id.toString(), NOTHING);
    if (order.requestId() != null) {
      add(order.userId(), RedisKeys.requestField(order.userId(), order.requestId()), NOTHING);
    }
  }

  /** Adds a compensated order: the loaded stock and quotas include its units already. */
  void compensated(OrderId id, PendingUnits units) {
    add(units.userId(), RedisKeys.compensationField(id), units.stock() + ":" + units.quota());
  }

  /** Adds which of the bucket's orders has ended as the one of this number, from 1. */
  void ended(OrderId id, AdmissionRecord order, int number) {
    String key = Objects.requireNonNullElse(order.requestId(), "");
    add(
        order.userId(),
        RedisKeys.endedField(number),
        id + ":" + order.userId() + ":" + order.changedAt() + ":" + key);
  }

  /** Adds how many {@link #ended} a bucket has. */
  void endedRange(int bucket, int count) {
    add(RedisKeys.bucket(sku, bucket), RedisKeys.ENDED_RANGE, "1:" + (count + 1));
  }

  void flush() {
    if (filling.fields > 0) {
      calls.add(filling);
      filling = new Call();
    }
    send();
  }

  private void add(long userId, String field, String value) {
    add(RedisKeys.bucket(sku, RedisKeys.bucketOf(userId, buckets)), field, value);
  }

  private void add(String key, String field, String value) {
    filling.add(key, field, value);
    if (filling.fields == FIELDS_PER_CALL) {
      calls.add(filling);
      filling = new Call();
      if (calls.size() == CALLS_PER_PIPELINE) {
        send();
      }
    }
  }

  private void send() {
    if (calls.isEmpty()) {
      return;
    }
    List<Object> replies =
        LOAD.callEach(
            redis,
            calls.stream().map(Call::keyList).toList(),
            calls.stream().map(call -> call.args).toList());
    if (!replies.stream().allMatch(Long.valueOf(1)::equals)) {
      throw SaleLoading.overtaken();
    }
    calls.clear();
  }
}
