package io.seckill.consumer.shards;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;

/** A SKU with four shards, in MySQL and Redis, with the mover at work. */
@ExtendWith(TestServers.class)
class ShardsIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(28_001);

  private static final TestConsumer consumer = TestConsumer.shared();
  private static final InternalApi api = consumer.api();
  private static final UnifiedJedis redis = consumer.redis();

  private final long sku = NEXT_SKU.getAndIncrement();
  private final String path = "/internal/v1/skus/" + sku;
  private final List<Long> shards = Shards.ids(sku, 4);

  @Test
  void aSkuAndItsShardsHaveOneStateAndItsStockIsSplit() {
    assertThat(api.put(path, product(403)).status()).isEqualTo(201);
    assertThat(rows("sku_id")).isEmpty();

    assertThat(api.post(path + "/preheat").status()).isEqualTo(200);

    assertThat(consumer.product(sku, "stock")).isEqualTo("3");
    assertThat(rows("stock")).containsOnly("100");
    assertThat(rows("state")).containsOnly("PREHEATED");
    assertThat(inRedis("state")).containsOnly("PREHEATED");
    assertThat(api.put(path, product(403).replace("\"shards\":4", "\"shards\":8")).field())
        .isEqualTo("shards");

    assertThat(api.post(path + "/open").text("state")).isEqualTo("OPEN");
    assertThat(rows("state")).containsOnly("OPEN");
    assertThat(inRedis("state")).containsOnly("OPEN");

    String later = product(403).replace("2036-01-01", "2036-01-02");
    assertThat(api.put(path, later).status()).isEqualTo(200);
    assertThat(rows("CAST(closes_at AS CHAR)")).allMatch(time -> time.startsWith("2036-01-02"));
    assertThat(inRedis("closesAt")).doesNotContain("2082758400123").hasSize(1);

    // As a gateway writes it whose call of order-consumer got lost.
    long shard = shards.get(2);
    new SaleStates(redis)
        .stop(
            new PendingStop(shard, SaleState.PAUSED.name(), System.currentTimeMillis(), "tester"));
    eventually().until(() -> inRedis("state").equals(Set.of("PAUSED")));
    assertThat(rows("state")).containsOnly("PAUSED");
    assertThat(consumer.product(sku, "state")).isEqualTo("PAUSED");

    assertThat(api.post(path + "/resume").text("state")).isEqualTo("OPEN");
    assertThat(inRedis("state")).containsOnly("OPEN");
    assertThat(state("CLOSED").text("state")).isEqualTo("CLOSED");
    assertThat(inRedis("state")).containsOnly("CLOSED");
    assertThat(rows("state")).containsOnly("CLOSED");
  }

  @Test
  void aShardNeedsFiftyOrdersAndTheSkuOneOfTheCounts() {
    assertThat(api.put(path, product(199)).status()).isEqualTo(201);
    assertThat(api.post(path + "/preheat").code()).isEqualTo("REFUSED");
    assertThat(consumer.product(sku, "state")).isEqualTo("NEW");

    for (String wrong : List.of("0", "3", "32", "-1")) {
      assertThat(api.put(path, product(199).replace("\"shards\":4", "\"shards\":" + wrong)).field())
          .isEqualTo("shards");
    }
    assertThat(
            api.put(path, product(199).replace("\"stock\"", "\"decides\":\"MYSQL\",\"stock\""))
                .field())
        .isEqualTo("shards");
    long shard = shards.get(0);
    assertThat(api.put("/internal/v1/skus/" + shard, product(400)).field()).isEqualTo("skuId");
  }

  /** The last units go where they are asked for, and none is called sold out before they are. */
  @Test
  void unitsGatherWhereTheyAreAskedForUntilNoneIsLeftAnywhere() {
    api.put(path, product(203));
    api.post(path + "/preheat");
    api.post(path + "/open");
    assertThat(change("withdraw-1", -199).text("state")).isEqualTo("DONE");
    assertLedger(4);
    String version = consumer.product(sku, "state_version");
    assertThat(change("withdraw-1", -199).text("state")).isEqualTo("DONE");
    assertThat(consumer.product(sku, "state_version"))
        .as("a repeat moves nothing")
        .isEqualTo(version);
    assertThat(change("withdraw-2", -5).text("state")).isEqualTo("REFUSED");
    assertThat(consumer.product(sku, "initial_stock")).isEqualTo("4");

    long busy = shards.get(1);
    ask(busy, 9);
    eventually().until(() -> stock(busy) == 4);
    assertLedger(4);
    List<OrderId> sold = LongStream.of(2, 4, 6, 8).mapToObj(user -> sell(busy, user)).toList();

    long ahead = System.currentTimeMillis() + 60_000; // as after a failover to a slower clock
    redis.hset(RedisKeys.sku(busy), "elsewhere", "7:" + ahead);
    eventually().until(() -> shards.stream().allMatch(shard -> elsewhere(shard) == 0));
    assertThat(api.cancel(sold.get(0), 2).status()).isEqualTo(200);
    eventually().until(() -> elsewhere(shards.get(0)) != 0);

    assertThat(change("top-up-1", 10).text("state")).isEqualTo("DONE");
    ask(busy, 11);
    eventually().until(() -> stock(busy) == 11);
    assertThat(consumer.product(sku, "stock")).isEqualTo("0");
    assertThat(
            consumer.number(
                "SELECT COUNT(*) FROM stock_change WHERE sku_id >= ? AND sku_id < ?"
                    + " AND state NOT IN ('DONE', 'REFUSED')",
                Shards.FIRST_ID + 16 * sku,
                Shards.FIRST_ID + 16 * sku + 16))
        .isZero();
    state("CLOSED");
  }

  @Test
  void aShardThatCannotBeReconciledKeepsNoOtherFromIt() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    redis.hset(RedisKeys.bucket(shards.get(0), 0), "written-by-nobody", "1");
    redis.incrBy(RedisKeys.stock(shards.get(3)), 7);

    Answer answer = api.post(path + "/reconciliation", "{\"dryRun\":false}");

    assertThat(answer.code()).isEqualTo("UNREADABLE_IN_REDIS");
    assertThat(stock(shards.get(3))).isEqualTo(100);
    state("CLOSED");
  }

  private void assertLedger(long units) {
    Answer ledger = api.get(path + "/ledger");
    assertThat(ledger.body().path("balanced").asBoolean()).as(ledger.text()).isTrue();
    assertThat(ledger.body().path("units").path("stock").asLong()).isEqualTo(units);
    assertThat(ledger.body().path("shards").size()).isEqualTo(4);
  }

  /** As a gateway does while purchases of this many units wait. */
  private static void ask(long shard, long units) {
    redis.hset(RedisKeys.sku(shard), "asked", units + ":" + System.currentTimeMillis());
  }

  private static OrderId sell(long shard, long user) {
    redis.hincrBy(RedisKeys.sku(shard), "admittedUnits", 1);
    return new StoredOrderFixture(consumer).confirmed(shard, user, 1);
  }

  private static long stock(long shard) {
    return Long.parseLong(redis.get(RedisKeys.stock(shard)));
  }

  /** -1 when it is not known. */
  private static long elsewhere(long shard) {
    String known = redis.hget(RedisKeys.sku(shard), "elsewhere");
    return known == null ? -1 : Long.parseLong(known.substring(0, known.indexOf(':')));
  }

  private Answer change(String id, long delta) {
    return api.with("Idempotency-Key", id)
        .post(path + "/stock", "{\"delta\":" + delta + ",\"reason\":\"test\"}");
  }

  private Answer state(String state) {
    return api.post(path + "/state", "{\"state\":\"" + state + "\"}");
  }

  private Set<String> rows(String column) {
    return new HashSet<>(
        consumer
            .sql()
            .sql("SELECT " + column + " FROM products WHERE sku_id IN (:shards)")
            .param("shards", shards)
            .query(String.class)
            .list());
  }

  private Set<String> inRedis(String field) {
    Set<String> values = new HashSet<>();
    shards.forEach(shard -> values.add(String.valueOf(redis.hget(RedisKeys.sku(shard), field))));
    return values;
  }

  private static String product(long stock) {
    return Sales.product("ONE_PER_USER", 1, stock).replace("\"stock\"", "\"shards\":4,\"stock\"");
  }
}
