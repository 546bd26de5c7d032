package io.seckill.consumer.shards;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.sales.ShardProofs;
import io.seckill.consumer.sales.StockMoves;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import redis.clients.jedis.UnifiedJedis;
import tools.jackson.databind.JsonNode;

/** A SKU with four shards, in MySQL and Redis, with the mover at work. */
@ExtendWith(TestServers.class)
class ShardsIT {

  private static final String OF_A_SKU = "/internal/v1/skus/{sku}";
  private static final AtomicLong NEXT_SKU = new AtomicLong(28_001);

  private static final TestConsumer consumer = TestConsumer.shared();
  private static final InternalApi api = consumer.api();
  private static final UnifiedJedis redis = consumer.redis();

  private final long sku = NEXT_SKU.getAndIncrement();
  private final String path = "/internal/v1/skus/" + sku;
  private final List<Long> shards = Shards.ids(sku, 4);

  @Test
  void aSkuAndItsShardsHaveOneStateAndItsStockIsSplit() {
    double breakerChanges = breakerChanges();
    assertThat(api.put(path, product(403)).status()).isEqualTo(201);
    assertThat(rows("sku_id")).isEmpty();

    assertThat(api.post(path + "/preheat").status()).isEqualTo(200);

    assertThat(consumer.product(sku, "stock")).isEqualTo("3");
    assertThat(rows("stock")).containsOnly("100");
    assertThat(rows("state")).containsOnly("PREHEATED");
    assertThat(inRedis("state")).containsOnly("PREHEATED");
    assertThat(api.put(path, product(403).replace("\"shards\":4", "\"shards\":8")).field())
        .isEqualTo("shards");

    assertThat(sent("open").text("state")).isEqualTo("OPEN");
    assertThat(rows("state")).containsOnly("OPEN");
    assertInRedis("OPEN", shards, breakerChanges);

    String later = product(403).replace("2036-01-01", "2036-01-02");
    eventually().until(() -> api.put(path, later).status() == 200); // a breaker may be open
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

    assertThat(sent("resume").text("state")).isEqualTo("OPEN");
    assertInRedis("OPEN", shards, breakerChanges);
    assertThat(state("CLOSED").text("state")).isEqualTo("CLOSED");
    assertInRedis("CLOSED", shards, breakerChanges);
    assertThat(rows("state")).containsOnly("CLOSED");
  }

  @Test
  void aShardThatDoesNotAnswerKeepsNoOtherFromAnOpening() {
    callsWhileShardsAreAway("open", 1, 200);
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"1, 200", "4, 503"})
  void shardsThatDoNotAnswerKeepNoOtherFromAResume(int away, int status) {
    callsWhileShardsAreAway("resume", away, status);
  }

  /** Redis refuses calls for the pending stops of a shard, as if its primary was away. */
  private void callsWhileShardsAreAway(String call, int away, int status) {
    api.put(path, product(400));
    eventually().until(() -> api.post(path + "/preheat").status() == 200); // a breaker may be open
    if (call.equals("resume")) {
      sent("open");
      state("PAUSED");
    }
    String before = consumer.product(sku, "state");
    List<String> stops =
        shards.stream().limit(away).map(id -> RedisKeys.stops(Partition.ofSku(id))).toList();
    stops.forEach(key -> redis.set(key, "no hash"));
    Answer answer = api.post(path + "/" + call);
    String firstShard = redis.hget(RedisKeys.sku(shards.get(0)), "state");
    stops.forEach(redis::del);

    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertThat(firstShard).isEqualTo(before);
    String after = status == 200 ? "OPEN" : before;
    assertThat(consumer.product(sku, "state")).isEqualTo(after);
    assertThat(rows("state")).containsOnly(after);
    eventually().until(() -> inRedis("state").equals(Set.of(after)));
    eventually().until(() -> api.post(path + "/" + call).status() == 200); // a breaker may be open
    state("CLOSED");
  }

  /** Its node came back without data, or with older data. */
  @ParameterizedTest
  @CsvSource({"lost, 1, 200, OPEN", "behind, 3, 200, OPEN", "lost, 4, 409, PAUSED"})
  void aShardWithoutItsDataKeepsNoOtherFromAResume(
      String is, int shardsWithout, int status, String state) {
    double breakerChanges = breakerChanges();
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    state("PAUSED");
    List<Long> without = shards.subList(0, shardsWithout);
    for (long shard : without) {
      if (is.equals("lost")) {
        redis.del(RedisKeys.sku(shard), RedisKeys.stock(shard));
      } else {
        consumer.update("UPDATE products SET change_seq = 1 WHERE sku_id = ?", shard);
      }
    }

    Answer answer = sent("resume");

    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertThat(rows("state")).containsOnly(state);
    assertInRedis(state, shards.subList(shardsWithout, 4), breakerChanges);
    eventually()
        .until(
            () -> {
              api.post(path + "/reconciliation", "{\"dryRun\":false}");
              return inRedis("state").equals(Set.of(state))
                  && rows("change_seq").equals(Set.of("0")); // all are rebuilt
            });
    state("CLOSED");
  }

  /**
   * The server of one was away at the pause and at the resume, and records the stop only now. That
   * of another may have come back without data.
   */
  @ParameterizedTest(name = "late: {0}, lost: {1}")
  @CsvSource({"1, 0, OPEN", "1, 1, OPEN", "4, 0, PAUSED"})
  void aStopOfAShardThatHasMissedTheResumeStopsNoOther(int late, int lost, String state) {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    String opened = consumer.product(shards.get(0), "state_version");
    state("PAUSED");
    sent("resume");
    eventually().until(() -> inRedis("state").equals(Set.of("OPEN"))); // a breaker may be open
    List<Long> missed = shards.subList(0, late);
    List<Long> kept = shards.subList(0, 4 - lost);
    shards.stream().skip(4 - lost).forEach(id -> redis.del(RedisKeys.sku(id), RedisKeys.stock(id)));

    redis.eval( // at once: the sweep never sees only some of it
        """
        for i = 1, #KEYS, 2 do
          redis.call('HSET', KEYS[i], 'state', 'PAUSED', 'stateVersion', ARGV[1])
          redis.call('HSET', KEYS[i + 1], ARGV[1 + (i + 1) / 2], ARGV[#ARGV])
        end
        """,
        missed.stream()
            .flatMap(id -> Stream.of(RedisKeys.sku(id), RedisKeys.stops(Partition.ofSku(id))))
            .toList(),
        Stream.of(
                Stream.of(opened),
                missed.stream().map(String::valueOf),
                Stream.of("PAUSED|1790000000000|tester"))
            .flatMap(args -> args)
            .toList());

    SaleStates states = new SaleStates(redis);
    eventually().until(() -> missed.stream().allMatch(id -> states.pendingStop(id).isEmpty()));
    eventually().until(() -> inRedis("state", kept).equals(Set.of(state)));
    assertThat(rows("state")).containsOnly(state);
    assertThat(consumer.product(sku, "state")).isEqualTo(state);
    state("CLOSED");
  }

  @Test
  void aShardThatDoesNotAnswerKeepsNoOtherFromALaterClosing() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    String away = RedisKeys.sku(shards.get(0));
    Map<String, String> sale = redis.hgetAll(away);
    redis.del(away);
    redis.set(away, "foreign");
    String later = product(400).replace("2036-01-01", "2036-01-02");

    Answer answer = api.put(path, later);
    Set<String> closing = inRedis("closesAt", shards.subList(1, 4));
    redis.del(away);
    redis.hset(away, sale);

    assertThat(answer.status()).as(answer.text()).isEqualTo(503);
    assertThat(closing).doesNotContain(sale.get("closesAt")).hasSize(1);
    eventually().until(() -> api.put(path, later).status() == 200); // a breaker may be open
    assertThat(inRedis("closesAt")).isEqualTo(closing);
    state("CLOSED");
  }

  /** A shard that was never loaded sells nothing, and is closed with the others. */
  @ParameterizedTest
  @ValueSource(strings = {"preheat", "archive"})
  void aSkuWhoseFirstPreheatHasFailedHalfwayIsClosed(String then) {
    api.put(path, product(400));
    String foreign = RedisKeys.stock(shards.get(1));
    redis.lpush(foreign, "foreign");
    assertThat(api.post(path + "/preheat").code()).isEqualTo("FOREIGN_KEY");
    assertThat(rows("state")).containsExactlyInAnyOrder("PREHEATED", "NEW");
    Answer opened = sent("open");
    assertThat(opened.code()).as(opened.text()).isEqualTo("NOT_PREHEATED");
    assertThat(opened.text("detail")).contains("Not all of its shards are loaded");

    Answer closed = state("CLOSED");

    redis.del(foreign);
    assertThat(closed.status()).as(closed.text()).isEqualTo(200);
    assertThat(rows("state")).containsOnly("CLOSED");
    Answer answer = api.post(path + "/" + then);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    state("CLOSED");
  }

  @Test
  void aPreheatThatOneShardRefusesChangesNoRow() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    state("CLOSED");
    String columns = "CONCAT_WS(' ', state, epoch, state_version)";
    String sale = consumer.product(sku, columns);
    Set<String> ofShards = rows(columns);
    long busy = shards.get(3);
    long settled = Long.parseLong(consumer.product(busy, "settled"));
    redis.hset(RedisKeys.sku(busy), "seq", Long.toString(settled + 1));

    assertThat(api.post(path + "/preheat").code()).isEqualTo("ORDERS_IN_FLIGHT");

    assertThat(consumer.product(sku, columns)).isEqualTo(sale).startsWith("CLOSED");
    assertThat(rows(columns)).isEqualTo(ofShards);
    redis.hset(RedisKeys.sku(busy), "seq", Long.toString(settled));
    assertThat(api.post(path + "/preheat").status()).isEqualTo(200);
    state("CLOSED");
  }

  /** Look and preheat are of the SKU; each shard has a report of its own. */
  @Test
  void aPreheatGivesUpAPaidOrderOfAShardThatMySqlHasLostOnceALookHasListedIt() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    state("CLOSED");
    long shard = shards.get(3);
    String lost = OrderId.of(OrderId.EPOCH_MS + sku, Partition.ofSku(shard), 200, 1).toString();
    long seq = Long.parseLong(consumer.product(shard, "settled")) + 1;
    int buckets = Integer.parseInt(redis.hget(RedisKeys.sku(shard), "bucketCount"));
    redis.hset(
        RedisKeys.bucket(shard, RedisKeys.bucketOf(7, buckets)),
        lost,
        "7|1|" + seq + "|1790000000000|1|P|");
    redis.hset(RedisKeys.sku(shard), "seq", Long.toString(seq));
    assertThat(sent("preheat").code()).isEqualTo("ORDERS_IN_FLIGHT");

    eventually()
        .until(() -> api.post(path + "/reconciliation", "{\"dryRun\":true}").text().contains(lost));

    Answer preheated = sent("preheat");
    assertThat(preheated.status()).as(preheated.text()).isEqualTo(200);
    assertThat(redis.hget(RedisKeys.sku(shard), "seq"))
        .isEqualTo(consumer.product(shard, "settled"));
    state("CLOSED");
  }

  /** Its numbers show nothing, and a barrier would not pass behind the order. */
  @Test
  void aPreheatChangesNoRowWhileOrdersOfALostShardAreOnTheirWay() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    state("CLOSED");
    String columns = "CONCAT_WS(' ', state, epoch, state_version)";
    String sale = consumer.product(sku, columns);
    Set<String> ofShards = rows(columns);
    long lost = shards.get(3);
    String outbox = RedisKeys.outbox(Partition.ofSku(lost));
    redis.hset(RedisKeys.sku(lost), "epoch", "0");
    String order =
        OrderMessageCodec.encode(OrderFlood.order(lost, PurchasePolicy.ONE_PER_USER, 7, 1));
    redis.lpush(outbox, order);

    String refusal;
    try {
      refusal = sent("preheat").code();
    } finally {
      redis.lrem(outbox, 0, order);
    }

    assertThat(refusal).isEqualTo("ORDERS_IN_FLIGHT");
    assertThat(consumer.product(sku, columns)).isEqualTo(sale).startsWith("CLOSED");
    assertThat(rows(columns)).isEqualTo(ofShards);
    eventually().until(() -> api.post(path + "/preheat").status() == 200); // a barrier has passed
    state("CLOSED");
  }

  /** They come to the shards only while these sell, and then there are no more buckets. */
  @Test
  void aShardHasBucketsForItsPartOfTheUnitsThatWereAddedBeforeThePreheat() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    assertThat(inRedis("bucketCount")).containsExactly("256");
    state("CLOSED");
    assertThat(change("second-sale-" + sku, 40_000).text("state")).isEqualTo("DONE");

    assertThat(sent("preheat").status()).isEqualTo(200);

    assertThat(inRedis("bucketCount")).as("10,100 units, 28 each").containsExactly("361");
    state("CLOSED");
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
    sent("open");
    assertThat(change("withdraw-1", -199).text("state")).isEqualTo("DONE");
    assertLedger(4);
    String version = consumer.product(sku, "state_version");
    assertThat(change("withdraw-1", -199).text("state")).isEqualTo("DONE");
    assertThat(consumer.product(sku, "state_version"))
        .as("a repeat moves nothing")
        .isEqualTo(version);
    assertThat(change("withdraw-2", -5).text("state")).isEqualTo("REFUSED");
    assertThat(consumer.product(sku, "state_version"))
        .as("no unit is taken from shoppers in vain")
        .isEqualTo(version);
    assertThat(consumer.product(sku, "initial_stock")).isEqualTo("4");

    long busy = shards.get(1);
    askUntil(busy, 9, 4);
    assertLedger(4);
    List<OrderId> sold = LongStream.of(2, 4, 6, 8).mapToObj(user -> sell(busy, user)).toList();

    long ahead = System.currentTimeMillis() + 60_000; // as after a failover to a slower clock
    redis.hset(RedisKeys.sku(busy), "elsewhere", "7:" + ahead);
    eventually().until(() -> shards.stream().allMatch(shard -> elsewhere(shard) == 0));
    assertThat(api.cancel(sold.get(0), 2).status()).isEqualTo(200);
    assertThat(consumer.product(busy, "stock")).as("the returned unit").isEqualTo("1");
    eventually().until(() -> elsewhere(shards.get(0)) != 0);

    assertThat(change("top-up-1", 10).text("state")).isEqualTo("DONE");
    askUntil(busy, 11, 11);
    eventually().untilAsserted(() -> assertThat(api.get(path).number("stock")).isEqualTo(11));
    assertThat(consumer.product(sku, "stock")).isEqualTo("0");
    awaitMoves();
    state("CLOSED");
  }

  /** Its loading into Redis fails again and again, so MySQL sells it on after a fallback. */
  @Test
  void unitsMoveAlthoughMySqlSellsOneOfTheShards() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    long inMySql = shards.get(0);
    long dry = shards.get(1);
    assertThat(change("withdraw-1", -390).text("state")).isEqualTo("DONE");
    assertThat(consumer.product(inMySql, "stock")).isEqualTo("0");
    consumer.update(
        "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE', epoch = epoch + 1,"
            + " state_version = state_version + 1 WHERE sku_id = ?",
        inMySql);

    askUntil(dry, 10, 10);
    assertThat(change("top-up-1", 4).text("state")).isEqualTo("DONE");
    askUntil(dry, 20, 13);

    assertThat(consumer.product(inMySql, "stock")).isEqualTo("1");
    consumer.update(
        "UPDATE products SET decides = 'REDIS', fallback = 'NO', epoch = epoch - 1 WHERE sku_id = ?",
        inMySql);
    state("CLOSED");
  }

  @Test
  void unitsAreCountedAsMovedWhenAShardHasThem() {
    api.put(path, product(403));
    api.post(path + "/preheat");
    long shard = shards.get(1);
    StockMoves moves = consumer.bean(StockMoves.class);
    double before = consumer.counter("seckill.consumer.shard.moved.units");

    moves.give(List.of(new StockMoves.Units(shard, 2), new StockMoves.Units(shards.get(0), 9)));
    assertThat(stock(shard)).isEqualTo(102);
    assertThat(consumer.product(sku, "stock")).isEqualTo("1");
    assertThat(consumer.counter("seckill.consumer.shard.moved.units")).isEqualTo(before + 2);

    moves.take(List.of(new StockMoves.Units(shard, 2)));
    assertThat(stock(shard)).isEqualTo(100);
    assertThat(consumer.product(sku, "stock")).isEqualTo("3");
    assertThat(consumer.counter("seckill.consumer.shard.moved.units")).isEqualTo(before + 2);
    state("CLOSED");
  }

  /** As on a server that answers reads and refuses writes. */
  @Test
  void aShardThatEndsNoMovesGetsFewAndTheOthersMoveOn() {
    api.put(path, product(403));
    api.post(path + "/preheat");
    StockMoves moves = consumer.bean(StockMoves.class);
    long stuck = shards.get(0);
    long other = shards.get(1);
    String units = redis.get(RedisKeys.stock(stuck));
    redis.del(RedisKeys.stock(stuck));

    for (int looks = 0; looks < 6; looks++) {
      moves.take(List.of(new StockMoves.Units(stuck, 5), new StockMoves.Units(other, 1)));
    }
    assertThat(unfinishedMoves()).isEqualTo(3);
    assertThat(stock(other)).isEqualTo(94);
    moves.give(List.of(new StockMoves.Units(stuck, 2), new StockMoves.Units(other, 2)));
    assertThat(unfinishedMoves()).isEqualTo(3);
    assertThat(consumer.product(sku, "stock")).as("units of no shard").isEqualTo("7");

    redis.set(RedisKeys.stock(stuck), units);
    awaitMoves();
    assertThat(stock(stuck)).isEqualTo(85);
    moves.give(List.of(new StockMoves.Units(stuck, 2)));
    assertThat(stock(stuck)).isEqualTo(87);
    state("CLOSED");
  }

  /** It is the first of those that have most. Without this field it answers reads only. */
  @Test
  void aShardThatEndsNoMovesKeepsNoUnitsOfOthersFromWhereTheyAreAskedFor() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    List<StockMoves.Units> allButThree =
        shards.stream().map(shard -> new StockMoves.Units(shard, 97)).toList();
    consumer.bean(StockMoves.class).take(allButThree);
    assertThat(change("withdraw-1", -388).text("state")).isEqualTo("DONE");
    sent("open");
    String stuck = RedisKeys.sku(shards.get(0));
    String expiresAt = redis.hget(stuck, "expiresAt");
    redis.hdel(stuck, "expiresAt");

    askUntil(shards.get(1), 6, 6);
    eventually().until(() -> unfinishedMoves() == 3);
    assertThat(once("withdraw-2", -10).status()).as("one more than they have").isEqualTo(503);
    askUntil(shards.get(2), 9, 9);

    redis.hset(stuck, "expiresAt", expiresAt);
    assertThat(change("withdraw-2", -10).text("state")).isEqualTo("DONE");
    assertLedger(2);
    state("CLOSED");
  }

  /** The first shard has too few units, so nothing is taken from it. */
  @Test
  void aMoveLocksTheRowOfTheSkuBeforeThoseOfItsShards() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    StockMoves moves = consumer.bean(StockMoves.class);
    List<StockMoves.Units> from =
        List.of(new StockMoves.Units(shards.get(0), 101), new StockMoves.Units(shards.get(1), 1));
    double retries = consumer.counter("seckill.consumer.lock.retries");

    CompletableFuture<Void> taken;
    try (RowLock lock = consumer.lockProduct(sku)) {
      taken = CompletableFuture.runAsync(() -> takeOrWait(moves, from));
      eventually()
          .until(() -> taken.isDone() || consumer.executing("SELECT p.*%FOR UPDATE").isPresent());
      lock.execute("SELECT * FROM products WHERE sku_id = " + shards.get(0) + " FOR UPDATE");
      lock.release();
    }
    Bounded.get(taken);
    awaitMoves();

    assertThat(consumer.counter("seckill.consumer.lock.retries")).isEqualTo(retries);
    assertThat(consumer.product(sku, "stock")).isEqualTo("1");
    state("CLOSED");
  }

  private static void takeOrWait(StockMoves moves, List<StockMoves.Units> from) {
    try {
      moves.take(from);
    } catch (TransientDataAccessException e) { // after 3 s: the sweep goes on with the rows
    }
  }

  @Test
  void whereNoSkuHasShardsTwoStatementsASecondAreAll() {
    AtomicInteger statements = new AtomicInteger();
    ShardTable none =
        new ShardTable(consumer.sql()) {
          @Override
          List<ProductSnapshot> onSale() {
            statements.incrementAndGet();
            return List.of();
          }
        };
    ShardMover mover =
        new ShardMover(
            consumer.bean(ConnectionPools.class),
            none,
            consumer.bean(ShardReader.class),
            consumer.bean(StockMoves.class),
            consumer.bean(ShardProofs.class),
            new SimpleMeterRegistry());

    mover.round();

    assertThat(statements).hasValue(1);
    assertThat(mover.shardSweeper().pause()).isGreaterThanOrEqualTo(Duration.ofMillis(500));
  }

  /** Every call that names a SKU is about all its shards, and shows them as one. */
  @Test
  void everyCallOfAnOperatorIsAboutTheWholeSku() {
    String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    String product = product(403).replace("2026-01-01T00:00:00Z", now);
    long shard = Shards.id(sku, 2);

    assertWhole(call("PUT", "", product), 403);
    assertWhole(call("POST", "/preheat", ""), 403);
    assertWhole(call("POST", "/open", ""), 403);
    assertWhole(call("GET", "", ""), 403);
    assertWhole(call("PUT", "", product.replace("2036-01-01", "2036-01-02")), 403);
    assertWhole(call("POST", "/state", "{\"state\":\"PAUSED\"}"), 403);
    assertWhole(call("POST", "/resume", ""), 403);
    assertThat(call("POST", "/stock", "{\"delta\":7,\"reason\":\"test\"}").number("stock"))
        .isEqualTo(410);
    eventually() // what does not divide by four stays; the mover looks once a second
        .until(() -> Long.parseLong(consumer.product(sku, "stock")) < 4);
    awaitMoves();
    eventually() // the ledger that is shown may be half a second old
        .until(
            () -> call("GET", "/ledger", "").body().path("units").path("stock").asLong(),
            units -> units == 410);
    assertThat(call("POST", "/release-reserve", "").code()).isEqualTo("REFUSED");
    try (RunLock other = lockOfReconciliation(shard)) {
      Answer reconciled = call("POST", "/reconciliation", "{\"dryRun\":false}");
      assertThat(other.isHeld()).isTrue();
      assertThat(reconciled.number("skuId")).isEqualTo(sku);
      assertThat(outcomes(reconciled)).containsExactly("CLEAN", "CLEAN", "UNPROVEN", "CLEAN");
      assertThat(reconciled.text("outcome")).isEqualTo("UNPROVEN");
    }
    assertThat(
            call("GET", "/reconciliation", "").body().path("reconciliations").findValues("shard"))
        .extracting(JsonNode::asInt)
        .containsExactlyInAnyOrder(0, 1, 3);

    consumer.update(
        "UPDATE products SET stock = stock + 2, settled = 5, last_seq = 5 WHERE sku_id = ?", shard);
    assertThat(call("GET", "", "").number("settled")).isEqualTo(5);
    assertAudit(call("POST", "/audit", "").body());
    String path = "/internal/v1/audits?limit=1&after=" + (sku - 1);
    assertAudit(api.get(path).body().path("audits").get(0));
    assertThat(api.get(path.replace("limit=1", "limit=80")).text())
        .as("in the list only as a part of its SKU")
        .contains("\"skuId\":" + sku)
        .containsOnlyOnce("\"skuId\":" + shard);
    consumer.update(
        "UPDATE products SET stock = stock - 2, settled = 0, last_seq = 0 WHERE sku_id = ?", shard);
    assertThat(call("POST", "/audit", "").body().path("differences").size()).isZero();

    eventually()
        .until(
            () -> {
              consumer.sweep("ledgerRefresh");
              Gauge stock = units(sku);
              return stock != null && stock.value() == 410;
            });
    assertThat(units(shard)).as("the metrics of a shard").isNull();
    assertThat(call("POST", "/archive", "").code()).isEqualTo("NOT_AT_REST");
    state("CLOSED");
    assertThat(call("POST", "/archive", "").text("phase"))
        .as("as far as the shards, which are still in Redis")
        .isEqualTo("REDIS");
    assertThat(called).as("the calls that there are").isEqualTo(callsOfOperators());
  }

  private final Set<String> called = new HashSet<>();

  private Answer call(String method, String below, String body) {
    called.add(method + " " + below);
    InternalApi keyed = api.with("Idempotency-Key", "change-" + sku);
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    return eventually() // a breaker may be open
        .until(() -> keyed.send(method, path + below, bytes), answer -> answer.status() != 503);
  }

  private static Set<String> callsOfOperators() {
    Set<String> calls = new HashSet<>();
    for (RequestMappingHandlerMapping mapping :
        consumer.beans(RequestMappingHandlerMapping.class)) {
      for (RequestMappingInfo info : mapping.getHandlerMethods().keySet()) {
        for (String path : info.getPatternValues()) {
          if (path.startsWith(OF_A_SKU) && !path.endsWith("/lost-admissions")) { // of gateways
            info.getMethodsCondition()
                .getMethods()
                .forEach(method -> calls.add(method + " " + path.substring(OF_A_SKU.length())));
          }
        }
      }
    }
    return calls;
  }

  private void assertWhole(Answer product, long stock) {
    assertThat(product.number("skuId")).as(product.text()).isEqualTo(sku);
    assertThat(product.number("stock")).as(product.text()).isEqualTo(stock);
    assertThat(product.number("initialStock")).as(product.text()).isEqualTo(403);
  }

  private void assertAudit(JsonNode audit) {
    assertThat(audit.path("skuId").asLong()).as(audit.toString()).isEqualTo(sku);
    assertThat(audit.path("units").asLong()).isEqualTo(410);
    assertThat(audit.path("stock").asLong()).isEqualTo(412);
    JsonNode shard = audit.path("shards").get(2);
    long units = shard.path("units").asLong();
    assertThat(shard.path("stock").asLong()).isEqualTo(units + 2);
    assertThat(audit.path("differences").get(0).asString())
        .startsWith("shard 2: stock is %d; %d units less 0 sold".formatted(units + 2, units));
    assertThat(audit.path("shards").size()).isEqualTo(4);
  }

  private static List<String> outcomes(Answer reconciled) {
    return reconciled
        .body()
        .path("shards")
        .valueStream()
        .map(part -> part.path("outcome").asString())
        .toList();
  }

  private static RunLock lockOfReconciliation(long shard) {
    return RunLock.take(
            consumer.bean(ConnectionPools.class).reconciliation(),
            "reconcile-" + shard,
            Duration.ofMinutes(1))
        .orElseThrow();
  }

  private static @Nullable Gauge units(long sku) {
    return consumer
        .bean(MeterRegistry.class)
        .find("seckill.ledger.units")
        .tags("sku", Long.toString(sku), "term", "stock")
        .gauge();
  }

  /** A foreign key of one shard is no failure of Redis, which would stop calls for all sales. */
  @Test
  void aShardThatCannotBeReadIsLeftOut() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    List<ExpectedSale> expected = new ArrayList<>(ExpectedSale.find(consumer.sql(), shards));
    expected.addAll(lacking(expected.get(0)));
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    ShardReader reader = new ShardReader(redis, new RedisCallGuard(redis, meters));
    redis.del(RedisKeys.stock(shards.get(1)));
    redis.lpush(RedisKeys.stock(shards.get(1)), "foreign");
    redis.del(RedisKeys.sku(shards.get(2)));
    redis.set(RedisKeys.sku(shards.get(2)), "foreign");

    for (int times = 0; times < 3; times++) {
      assertThat(reader.read(expected))
          .extracting(ShardState::id)
          .containsExactly(shards.get(0), shards.get(3));
    }
    shards.forEach(shard -> redis.del(RedisKeys.stock(shard), RedisKeys.sku(shard)));
  }

  @ParameterizedTest
  @CsvSource({"3, 1", "2, 0", "'', 1"}) // none when a former release has loaded it
  void aShardIsReadUnlessItLacksChanges(String changes, int read) {
    api.put(path, product(400));
    api.post(path + "/preheat");
    long shard = shards.get(0);
    if (changes.isEmpty()) {
      redis.hdel(RedisKeys.sku(shard), "changeSeq");
    } else {
      redis.hset(RedisKeys.sku(shard), "changeSeq", changes);
    }
    List<ExpectedSale> expected = List.of(new ExpectedSale(shard, 1, 0, 3, ""));

    assertThat(consumer.bean(ShardReader.class).read(expected)).hasSize(read);
    state("CLOSED");
  }

  /** What MySQL has of a shard when Redis has older data of it, or is another server. */
  private static List<ExpectedSale> lacking(ExpectedSale shard) {
    long id = shard.id();
    long epoch = shard.epoch();
    long seq = shard.lastSeq();
    long changeSeq = shard.changeSeq();
    return List.of(
        new ExpectedSale(id, epoch + 1, seq, changeSeq, shard.server()),
        new ExpectedSale(id, epoch, seq + 1, changeSeq, shard.server()),
        new ExpectedSale(id, epoch, seq, changeSeq + 1, shard.server()),
        new ExpectedSale(id, epoch, seq, changeSeq, "0".repeat(40)));
  }

  /** Their units may be in a shard, too. */
  @Test
  void unfinishedMovesOfEachStateAreMoving() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    ProductSnapshot snapshot = ProductRows.find(consumer.sql(), sku).orElseThrow();

    Pool pool =
        consumer
            .bean(TransactionOperations.class)
            .execute(
                tx -> {
                  tx.setRollbackOnly();
                  for (String state : List.of("PENDING", "MYSQL_DONE", "UNDOING", "DONE")) {
                    consumer.update(
                        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator,"
                            + " epoch, state) VALUES (?, ?, 5, 'moved', 'shards', 1, ?)",
                        shards.get(0),
                        state,
                        state);
                  }
                  return new ShardTable(consumer.sql()).pool(snapshot);
                });

    assertThat(pool.moving()).isEqualTo(15);
    assertThat(pool.moves()).isEqualTo(3);
  }

  /** One wakes while another leads, and both think that they do. */
  @Test
  void twoMoversAtOnceLoseAndInventNothing() {
    api.put(path, product(203));
    api.post(path + "/preheat");
    sent("open");
    assertThat(change("withdraw-1", -193).text("state")).isEqualTo("DONE");
    ProductSnapshot snapshot = ProductRows.find(consumer.sql(), sku).orElseThrow();
    Runnable mover = () -> IntStream.range(0, 40).forEach(round -> look(snapshot, round));

    List.of(CompletableFuture.runAsync(mover), CompletableFuture.runAsync(mover))
        .forEach(Bounded::get);

    assertThat(
            consumer.number(
                "SELECT COUNT(*) FROM stock_change WHERE sku_id IN (?, ?, ?, ?) AND delta > 0",
                shards.toArray()))
        .isPositive();
    assertLedger(10);

    assertThat(change("withdraw-all", -10).text("state")).isEqualTo("DONE");
    assertLedger(0);
    state("CLOSED");
  }

  /** Another process may have shown the proof than takes the units. The sale does not run. */
  @Test
  void aShardWhoseUnitsAreTakenShowsNoProofAnyMore() {
    api.put(path, product(400));
    assertThat(api.post(path + "/preheat").status()).isEqualTo(200);
    long shard = shards.get(0);
    consumer.bean(ShardProofs.class).write(shard, 1, 0, System.currentTimeMillis());
    assertThat(elsewhere(shard)).isZero();

    consumer.bean(StockMoves.class).take(List.of(new StockMoves.Units(shard, 1)));

    assertThat(stock(shard)).isEqualTo(99);
    assertThat(elsewhere(shard)).as("the unit is elsewhere").isNegative();
    state("CLOSED");
  }

  private static SkuMover mover() {
    return new SkuMover(
        new ShardTable(consumer.sql()),
        consumer.bean(ShardReader.class),
        consumer.bean(StockMoves.class),
        consumer.bean(ShardProofs.class),
        System::nanoTime);
  }

  /** All units are asked for by one shard after the other. */
  private void look(ProductSnapshot snapshot, int round) {
    redis.hset(
        RedisKeys.sku(shards.get(round % 4)),
        "asked",
        "10:" + System.currentTimeMillis() + "@movers");
    try {
      mover().look(snapshot);
    } catch (TransientDataAccessException e) { // a deadlock: the sweep goes on with the rows
    }
  }

  /** The sale is not open, so nobody else proves anything. */
  @Test
  void unitsThatAreAddedTakeBackThatNoneIsLeft() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    ShardProofs proofs = consumer.bean(ShardProofs.class);
    long shard = shards.get(1);
    long found = System.currentTimeMillis();
    proofs.write(shard, 1, 0, found);
    assertThat(elsewhere(shard)).isZero();
    assertThat(proofs.renew(shard, 1, found - 1, found + 1)).as("not what it shows").isFalse();
    assertThat(proofs.renew(shard, 1, found, found + 1)).isTrue();

    assertThat(change("top-up-" + sku, 10).text("state")).isEqualTo("DONE");

    assertThat(elsewhere(shard)).isNegative();
    assertThat(proofs.renew(shard, 1, found + 1, System.currentTimeMillis())).isFalse();
    proofs.write(shard, 1, 0, found + 2);
    assertThat(elsewhere(shard)).as("found before the units came").isNegative();
    state("CLOSED");
  }

  /** Redis has lost the stock of a shard to which five units were on their way. */
  @Test
  void aWithdrawalWaitsForALostShardWithoutStoppingTheOthers() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    assertThat(change("withdraw-1", -390).text("state")).isEqualTo("DONE");
    long lost = shards.get(0);
    redis.del(RedisKeys.stock(lost));
    consumer.update(
        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)"
            + " VALUES (?, 'move-half', 5, 'moved', 'shards', 1, 'MYSQL_DONE')",
        lost);

    assertThat(once("withdraw-2", -16).status()).isEqualTo(503);
    askUntil(shards.get(1), 10, 10);

    consumer.update("UPDATE stock_change SET state = 'DONE' WHERE change_id = 'move-half'");
    redis.set(RedisKeys.stock(lost), "0");
    assertThat(change("withdraw-2", -16).text("state")).isEqualTo("REFUSED");
    state("CLOSED");
  }

  @Test
  void theLargestSkuWithShards() {
    String body = product(800).replace("\"shards\":4", "\"shards\":16");
    String largest = "/internal/v1/skus/" + Shards.LARGEST_SKU;
    assertThat(api.put("/internal/v1/skus/" + (Shards.LARGEST_SKU + 1), body).field())
        .isEqualTo("shards");
    assertThat(api.put(largest, body).status()).isEqualTo(201);
    assertThat(api.post(largest + "/preheat").status()).isEqualTo(200);
    assertThat(api.post(largest + "/open").number("skuId")).isEqualTo(Shards.LARGEST_SKU);
    for (long shard : Shards.ids(Shards.LARGEST_SKU, 16)) {
      assertThat(stock(shard)).isEqualTo(50);
      sell(shard, 7);
      assertThat(consumer.product(shard, "stock")).isEqualTo("49");
    }
    assertThat(api.post(largest + "/state", "{\"state\":\"CLOSED\"}").number("stock"))
        .isEqualTo(784);
  }

  @Test
  void aShardThatCannotBeReconciledKeepsNoOtherFromIt() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    redis.hset(RedisKeys.bucket(shards.get(0), 0), "written-by-nobody", "1");
    redis.incrBy(RedisKeys.stock(shards.get(3)), 7);

    Answer answer = api.post(path + "/reconciliation", "{\"dryRun\":false}");

    assertThat(answer.text("outcome")).as(answer.text()).isEqualTo("UNPROVEN");
    assertThat(stock(shards.get(3))).isEqualTo(100);
    state("CLOSED");
  }

  /** The others may wait for their orders in flight for longer than the caller does. */
  @Test
  void aLostShardIsReconciledBeforeTheOthers() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    long lost = Shards.id(sku, 3);
    redis.del(RedisKeys.sku(lost), RedisKeys.stock(lost));

    Answer answer = api.post(path + "/reconciliation", "{\"dryRun\":false}");

    assertThat(outcomes(answer))
        .as(answer.text())
        .containsExactly("CLEAN", "CLEAN", "CLEAN", "REBUILT");
    List<Long> stored =
        answer.body().path("shards").valueStream().map(part -> part.path("id").asLong()).toList();
    assertThat(stored).as("the number of its row").allMatch(row -> row >= stored.get(3));
    state("CLOSED");
  }

  /** Redis has the units before the rows of the moves are done. */
  private void awaitMoves() {
    eventually().until(() -> unfinishedMoves() == 0);
  }

  private long unfinishedMoves() {
    return consumer.number(
        "SELECT COUNT(*) FROM stock_change WHERE sku_id >= ? AND sku_id < ?"
            + " AND state NOT IN ('DONE', 'REFUSED')",
        Shards.FIRST_ID + 16 * sku,
        Shards.FIRST_ID + 16 * sku + 16);
  }

  /** The ledger that is shown may be half a second old. */
  private void assertLedger(long units) {
    awaitMoves();
    eventually()
        .untilAsserted(
            () -> {
              Answer ledger = api.get(path + "/ledger");
              assertThat(ledger.body().path("balanced").asBoolean()).as(ledger.text()).isTrue();
              assertThat(ledger.body().path("units").path("stock").asLong()).isEqualTo(units);
              assertThat(ledger.body().path("shards").size()).isEqualTo(4);
            });
  }

  /** As a gateway does while purchases of this many units wait, until it has some. */
  private static void askUntil(long shard, long units, long stock) {
    eventually()
        .until(
            () -> {
              redis.hset(
                  RedisKeys.sku(shard), "asked", units + ":" + System.currentTimeMillis() + "@it");
              return stock(shard) == stock;
            });
  }

  private static OrderId sell(long shard, long user) {
    redis.hincrBy(RedisKeys.sku(shard), "admittedUnits", 1);
    OrderId sold = new StoredOrderFixture(consumer).confirmed(shard, user, 1);
    redis.hset(RedisKeys.sku(shard), "seq", consumer.product(shard, "last_seq"));
    return sold;
  }

  private static long stock(long shard) {
    return Long.parseLong(redis.get(RedisKeys.stock(shard)));
  }

  /** -1 when it is not known. */
  private static long elsewhere(long shard) {
    String known = redis.hget(RedisKeys.sku(shard), "elsewhere");
    return known == null ? -1 : Long.parseLong(known.substring(0, known.indexOf(':')));
  }

  /** The answer at its end: it waits while units are moving, or a breaker is open. */
  private Answer change(String id, long delta) {
    return eventually().until(() -> once(id, delta), answer -> answer.status() != 503);
  }

  private Answer once(String id, long delta) {
    return api.with("Idempotency-Key", id)
        .post(path + "/stock", "{\"delta\":" + delta + ",\"reason\":\"test\"}");
  }

  /** An opening, sent again while a breaker keeps it from all shards. */
  private Answer sent(String call) {
    return eventually().until(() -> api.post(path + "/" + call), answer -> answer.status() != 503);
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

  /** At once; only shards that a breaker has kept a call from follow later. */
  private static void assertInRedis(String state, List<Long> ids, double breakerChanges) {
    if (breakerChanges() > breakerChanges) {
      eventually().until(() -> Set.of(state).containsAll(inRedis("state", ids)));
    }
    assertThat(inRedis("state", ids)).isSubsetOf(state);
  }

  private static double breakerChanges() {
    return consumer
        .bean(MeterRegistry.class)
        .get("seckill.breaker.transitions")
        .tag("breaker", "redis")
        .counters()
        .stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  private Set<String> inRedis(String field) {
    return inRedis(field, shards);
  }

  private static Set<String> inRedis(String field, List<Long> ids) {
    Set<String> values = new HashSet<>();
    ids.forEach(shard -> values.add(String.valueOf(redis.hget(RedisKeys.sku(shard), field))));
    return values;
  }

  private static String product(long stock) {
    return product("ONE_PER_USER", 1, stock);
  }

  private static String product(String policy, int limit, long stock) {
    return Sales.product(policy, limit, stock).replace("\"stock\"", "\"shards\":4,\"stock\"");
  }
}
