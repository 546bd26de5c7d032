package io.seckill.consumer.shards;

import static io.seckill.testing.Eventually.eventually;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.UnifiedJedis;

/** A SKU of its own in shards. */
abstract class SkuInShards {

  static final AtomicLong NEXT_SKU = new AtomicLong(28_001);

  static final TestConsumer consumer = TestConsumer.shared();
  static final InternalApi api = consumer.api();
  static final UnifiedJedis redis = consumer.redis();

  final long sku = NEXT_SKU.getAndIncrement();
  final String path = "/internal/v1/skus/" + sku;
  final List<Long> shards = Shards.ids(sku, 4);

  final Set<String> called = new HashSet<>();

  Answer call(String method, String below, String body) {
    called.add(method + " " + below);
    InternalApi keyed = api.with("Idempotency-Key", "change-" + sku);
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return eventually() // a breaker may be open
        .until(() -> keyed.send(method, path + below, bytes), answer -> answer.status() != 503);
  }

  static List<String> outcomes(Answer reconciled) {
    return reconciled
        .body()
        .path("shards")
        .valueStream()
        .map(part -> part.path("outcome").asString())
        .toList();
  }

  static @Nullable Gauge units(long sku) {
    return consumer
        .bean(MeterRegistry.class)
        .find("seckill.ledger.units")
        .tags("sku", Long.toString(sku), "term", "stock")
        .gauge();
  }

  /** Redis has the units before the rows of the moves are done. */
  void awaitMoves() {
    eventually().until(() -> unfinishedMoves() == 0);
  }

  long unfinishedMoves() {
    return consumer.number(
        "SELECT COUNT(*) FROM stock_change WHERE sku_id >= ? AND sku_id < ?"
            + " AND state NOT IN ('DONE', 'REFUSED')",
        Shards.FIRST_ID + 16 * sku,
        Shards.FIRST_ID + 16 * sku + 16);
  }

  static OrderId sell(long shard, long user) {
    redis.hincrBy(RedisKeys.sku(shard), "admittedUnits", 1);
    OrderId sold = new StoredOrderFixture(consumer).confirmed(shard, user, 1);
    redis.hset(RedisKeys.sku(shard), "seq", consumer.product(shard, "last_seq"));
    return sold;
  }

  static long stock(long shard) {
    return Long.parseLong(redis.get(RedisKeys.stock(shard)));
  }

  /** The answer at its end: it waits while units are moving, or a breaker is open. */
  Answer change(String id, long delta) {
    return eventually().until(() -> once(id, delta), answer -> answer.status() != 503);
  }

  Answer once(String id, long delta) {
    return api.changeStock(sku, id, delta);
  }

  /** An opening, sent again while a breaker keeps it from all shards. */
  Answer sent(String call) {
    return eventually().until(() -> api.post(path + "/" + call), answer -> answer.status() != 503);
  }

  Answer state(String state) {
    return api.post(path + "/state", "{\"state\":\"" + state + "\"}");
  }

  Set<String> rows(String column) {
    return new HashSet<>(
        consumer
            .sql()
            .sql("SELECT " + column + " FROM products WHERE sku_id IN (:shards)")
            .param("shards", shards)
            .query(String.class)
            .list());
  }

  Set<String> inRedis(String field) {
    return inRedis(field, shards);
  }

  static Set<String> inRedis(String field, List<Long> ids) {
    Set<String> values = new HashSet<>();
    ids.forEach(shard -> values.add(String.valueOf(redis.hget(RedisKeys.sku(shard), field))));
    return values;
  }

  static String product(long stock) {
    return product("ONE_PER_USER", 1, stock);
  }

  static String product(String policy, int limit, long stock) {
    return Sales.product(policy, limit, stock).replace("\"stock\"", "\"shards\":4,\"stock\"");
  }
}
