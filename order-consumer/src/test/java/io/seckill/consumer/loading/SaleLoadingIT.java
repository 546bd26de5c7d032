package io.seckill.consumer.loading;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.SaleStates.Followed;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.loading.SaleLoader.Replacing;
import io.seckill.consumer.loading.WrittenOrders.EndedOrders;
import io.seckill.consumer.orders.Compensations;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.Products;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.consumer.testing.UnstoredProduct;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.Bounded;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import io.seckill.testing.RowLock;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** The steps of a loading, when something comes in between. */
@ExtendWith(TestServers.class)
class SaleLoadingIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(5001);

  private static final TestConsumer consumer = TestConsumer.shared();
  private static final InternalApi api = consumer.api();
  private static final UnifiedJedis redis = consumer.redis();

  private final long sku = NEXT_SKU.getAndIncrement();
  private final String path = "/internal/v1/skus/" + sku;

  @Test
  void stopsWhenALaterLoadingHasBegun() {
    SaleLoading overtaken = loading(4);
    overtaken.begin(OrderTotals.NONE, Replacing.AT_REST);
    loading(5).begin(OrderTotals.NONE, Replacing.AT_REST);

    refusesAsOvertaken(() -> loading(4).begin(OrderTotals.NONE, Replacing.AT_REST));
    refusesAsOvertaken(() -> overtaken.clear(2));
    refusesAsOvertaken(
        () -> {
          BucketWriter writer = overtaken.writer();
          writer.quota(7, 1);
          writer.flush();
        });
    refusesAsOvertaken(() -> finish(overtaken, 100, "PREHEATED"));
    int buckets = Integer.parseInt(redis.hget(RedisKeys.sku(sku), "bucketCount"));
    assertThat(redis.exists(RedisKeys.bucket(sku, RedisKeys.bucketOf(7, buckets)))).isFalse();
    assertThat(redis.exists(RedisKeys.stock(sku))).isFalse();
  }

  /** The later one loads all of the sale anew, so that nothing of the first is in it. */
  @Test
  void theLaterOfTwoPreheatsLoadsTheSale() {
    api.put(path, Sales.product("LIMITED", 5, 100));
    CompletableFuture<Answer> first;
    CompletableFuture<Answer> later;
    try (RowLock held = consumer.lock("LOCK TABLES stock_change WRITE")) {
      first = preheatUntilItLoads(1);
      later = preheatUntilItLoads(2);
      held.release();
    }

    assertThat(Bounded.get(first).code()).isEqualTo("PREHEAT_OVERTAKEN");
    assertThat(Bounded.get(later).status()).isEqualTo(200);
    assertThat(redis.hmget(RedisKeys.sku(sku), "state", "epoch", "loading"))
        .containsExactly("PREHEATED", "2", null);
    assertThat(redis.get(RedisKeys.stock(sku))).isEqualTo("100");
  }

  /** While the table of stock changes is locked, none ends. */
  private CompletableFuture<Answer> preheatUntilItLoads(int epoch) {
    CompletableFuture<Answer> preheated =
        CompletableFuture.supplyAsync(() -> api.post(path + "/preheat", ""));
    eventually()
        .until(() -> Integer.toString(epoch).equals(redis.hget(RedisKeys.sku(sku), "loading")));
    return preheated;
  }

  /** The replica has the beginning of the loading, and not the quota that was written then. */
  @ChildProcessesOnly
  @Test
  void stopsWhenAReplicaHasBeenPromoted() throws IOException {
    try (RedisServer first = RedisServer.start("repl-diskless-sync-delay 0");
        RedisServer second = RedisServer.start("replicaof 127.0.0.1 " + first.port());
        TcpProxy proxy = TcpProxy.to(first);
        UnifiedJedis primary = new RedisDatabase("", 0, 0).via(proxy).open();
        Jedis replica = new Jedis(second.host(), second.port())) {
      // With its first replica a server gets another id, and is another server for a loading.
      eventually().until(() -> replica.info("replication").contains("master_link_status:up"));
      SaleLoading loading = loading(primary, 4);
      loading.begin(OrderTotals.NONE, Replacing.AT_REST);
      eventually().until(() -> replica.exists(RedisKeys.sku(sku)));
      replica.replicaofNoOne();
      BucketWriter writer = loading.writer();
      writer.quota(7, 1);
      writer.flush();
      proxy.redirect(second);

      assertThat(
              answer(
                  () -> {
                    writer.quota(8, 1);
                    writer.flush();
                  }))
          .isEqualTo(ProblemCode.PREHEAT_OVERTAKEN);
      assertThat(answer(() -> finish(loading, 100, "OPEN")))
          .isEqualTo(ProblemCode.PREHEAT_OVERTAKEN);
      assertThat(primary.hget(RedisKeys.sku(sku), "state")).isEqualTo("PREHEATING");
    }
  }

  /** The answer of the new primary: the connections to the former one break first. */
  private static Object answer(Runnable step) {
    return eventually()
        .ignoreExceptionsInstanceOf(JedisConnectionException.class)
        .until(
            () -> {
              try {
                step.run();
                return "done";
              } catch (ProblemException e) {
                return e.problem().code();
              }
            },
            answer -> true);
  }

  private void finish(SaleLoading loading, long stock, String state) {
    loading.finish(sale(9), stock, OrderTotals.NONE, Map.of(), state);
  }

  private static void refusesAsOvertaken(Runnable step) {
    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(step::run)
        .extracting(e -> e.problem().code())
        .isEqualTo(ProblemCode.PREHEAT_OVERTAKEN);
  }

  @ParameterizedTest
  @ValueSource(strings = {"OPEN", "PAUSED"})
  void neverReplacesARunningSale(String state) {
    redis.hset(RedisKeys.sku(sku), Map.of("state", state, "epoch", "1"));

    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(() -> loading(2).begin(OrderTotals.NONE, Replacing.ANYTHING))
        .extracting(e -> e.problem().saleState())
        .isEqualTo(state);
    assertThat(redis.hget(RedisKeys.sku(sku), "epoch")).isEqualTo("1");
  }

  /** In a Redis where the consumer's sweep does not carry out the stop. */
  @Test
  void aStopOutlivesTheLossOfTheSaleAndItsLoading() {
    try (UnifiedJedis own = TestServers.redis().newDatabase().open()) {
      SaleStates states = new SaleStates(own);
      assertThat(states.stop(new PendingStop(sku, "CLOSED", 1_000, "olga"))).isTrue();
      SaleLoading loading = loading(own, 4);
      loading.begin(OrderTotals.NONE, Replacing.ANYTHING);

      finish(loading, 10, "OPEN");

      assertThat(own.hget(RedisKeys.sku(sku), "state")).isEqualTo("CLOSED");
      assertThat(states.follow(sku, "OPEN", 4, 1, null)).isEqualTo(Followed.STOPPED);
    }
  }

  @Test
  void countsTheTenthOrderThatIsStoredDuringTheLoading() {
    SaleLoading loading = loading(2);
    loading.begin(new OrderTotals(9, 9), Replacing.AT_REST);

    loading.finish(sale(2), 90, new OrderTotals(10, 10), Map.of(), "PREHEATED");

    assertThat(redis.hmget(RedisKeys.sku(sku), "admittedOrders", "publishedUnits"))
        .containsExactly("10", "10");
  }

  @Test
  void salesThatAreGoneLeaveTheSetWithTheNextLoadingOfTheirPartition() {
    String set = RedisKeys.skus(Partition.ofSku(sku));
    long gone = sku + 16_000;
    redis.del(set); // other tests have sales there, which end later
    redis.sadd(set, Long.toString(gone));
    SaleLoading loading = loading(2);
    loading.begin(OrderTotals.NONE, Replacing.AT_REST);

    finish(loading, 10, "PREHEATED");

    assertThat(redis.smembers(set))
        .contains(Long.toString(sku))
        .doesNotContain(Long.toString(gone));
    assertThat(redis.pexpireTime(set)).isGreaterThanOrEqualTo(sale(2).expiry().restMs());
  }

  @Test
  void aSetExpiresWithTheLastSaleOfItsPartition() {
    String set = RedisKeys.skus(Partition.ofSku(sku));
    long last = sale(2).expiry().restMs() + Duration.ofDays(365).toMillis();
    redis.sadd(set, Long.toString(sku));
    redis.pexpireAt(set, last);
    SaleLoading loading = loading(2);
    loading.begin(OrderTotals.NONE, Replacing.AT_REST);

    finish(loading, 10, "PREHEATED");

    assertThat(redis.pexpireTime(set)).isEqualTo(last);
  }

  @Test
  void countsUnitsOnceThatCameBackBetweenTheNewEpochAndTheLoad() { // I7
    api.put(path, Sales.product("LIMITED", 5, 100));
    long order = OrderId.of(System.currentTimeMillis(), Partition.ofSku(sku), 200, 1).value();
    // Sets the epoch directly, as if it had been raised before the compensation: while one is
    // pending, a preheat refuses.
    execute("UPDATE products SET epoch = 2, state = 'PREHEATED' WHERE sku_id = ?", sku);
    execute(
        "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
            + " status, epoch, seq, admitted_at) VALUES (?, 7, ?, 2, 100, 'key-came-back',"
            + " 'CANCELLED', 1, 1, UTC_TIMESTAMP(3))",
        order,
        sku);
    execute(
        "INSERT INTO compensation (order_id, sku_id, user_id, epoch, stock_units, quota_units)"
            + " VALUES (?, ?, 7, 2, 2, 2)", // a sweep changes nothing while Redis lacks the sale
        order,
        sku);
    execute(
        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)"
            + " VALUES (?, 'change-of-epoch-2', 5, 'more', 'olga', 2, 'MYSQL_DONE')",
        sku);

    assertThat(consumer.bean(SaleLoader.class).load(sku, 2, Replacing.AT_REST, () -> {}))
        .isPresent();

    int buckets = Integer.parseInt(redis.hget(RedisKeys.sku(sku), "bucketCount"));
    String bucket = RedisKeys.bucket(sku, RedisKeys.bucketOf(7, buckets));
    assertThat(redis.hget(bucket, RedisKeys.compensationField(new OrderId(order))))
        .isEqualTo("2:2");
    assertThat(redis.hget(RedisKeys.stockChanges(sku), "change-of-epoch-2")).isEqualTo("2:5:A");
    assertThat(redis.get(RedisKeys.stock(sku))).isEqualTo("100");
    String expiresAt = redis.hget(RedisKeys.sku(sku), "expiresAt");
    assertThat(List.of(bucket, RedisKeys.stockChanges(sku), RedisKeys.stock(sku)))
        .allSatisfy(key -> assertThat(redis.pexpireTime(key)).isEqualTo(Long.parseLong(expiresAt)));
  }

  /** As when MySQL sells a SKU with shards while they are loaded, and moves units between them. */
  @Test
  void loadsMoreStockChangesThanAPageHas() {
    int changes = DatabaseSnapshot.PAGE + 1;
    api.put(path, Sales.product("LIMITED", 5, 100));
    execute("UPDATE products SET epoch = 2, state = 'PREHEATED' WHERE sku_id = ?", sku);
    insertChanges("former", 1, changes);
    insertChanges("present", 2, changes);

    assertThat(consumer.bean(SaleLoader.class).load(sku, 2, Replacing.AT_REST, () -> {}))
        .isPresent();

    assertThat(redis.hlen(RedisKeys.stockChanges(sku))).isEqualTo(changes);
    assertThat(redis.hget(RedisKeys.stockChanges(sku), "present-7")).isEqualTo("2:1:A");
    execute("DELETE FROM stock_change WHERE sku_id = ?", sku);
  }

  private void insertChanges(String name, long epoch, int count) {
    String rows =
        IntStream.range(0, count)
            .mapToObj(n -> "(%d, '%s-%d', 1, '', '', %d, 'DONE')".formatted(sku, name, n, epoch))
            .collect(Collectors.joining(", "));
    execute(
        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)"
            + " VALUES "
            + rows);
  }

  @Test
  void forgetsTheStockChangesOfEarlierEpochs() {
    SaleLoading first = loading(2);
    first.begin(OrderTotals.NONE, Replacing.AT_REST);
    first.finish(sale(2), 100, OrderTotals.NONE, Map.of("former", "2:5:A"), "PREHEATED");
    SaleLoading second = loading(3);
    second.begin(OrderTotals.NONE, Replacing.AT_REST);

    second.finish(sale(3), 100, OrderTotals.NONE, Map.of("contained", "3:5:A"), "PREHEATED");

    assertThat(redis.hgetAll(RedisKeys.stockChanges(sku))).isEqualTo(Map.of("contained", "3:5:A"));
  }

  /** As many as compensate.lua would have kept, and numbered as it does. */
  @Test
  void loadsEndedOrdersThatARepeatMayStillBeOf() {
    api.put(path, Sales.product("LIMITED", 5, 100));
    execute("UPDATE products SET epoch = 2, state = 'PREHEATED' WHERE sku_id = ?", sku);
    insertOrder(1, 7, "CANCELLED", 3_601);
    insertOrder(2, 7, "CONFIRMED", 3_601);
    for (int n = 3; n < 3 + EndedOrders.MOST + 2; n++) {
      insertOrder(n, 7, "EXPIRED", 60);
    }

    assertThat(consumer.bean(SaleLoader.class).load(sku, 2, Replacing.AT_REST, () -> {}))
        .isPresent();

    int buckets = Integer.parseInt(redis.hget(RedisKeys.sku(sku), "bucketCount"));
    Map<String, String> bucket = redis.hgetAll(RedisKeys.bucket(sku, (int) (7L % buckets)));
    assertThat(bucket)
        .hasSize(2 + 3 * EndedOrders.MOST + 1)
        .containsKeys(id(2).toString(), "7:request-2", id(3).toString(), "7:request-3")
        .doesNotContainKey(id(1).toString())
        .containsEntry(RedisKeys.ENDED_RANGE, "1:" + (EndedOrders.MOST + 1));
    assertThat(bucket.get(RedisKeys.endedField(1))).matches(id(3) + ":7:\\d{13}:request-3");
  }

  @Test
  void loadsWhatMySqlSellsAndCancelsMeanwhile() {
    api.put(path, Sales.product("LIMITED", 5, 100));
    StoredOrderFixture orders = new StoredOrderFixture(consumer);
    OrderId cancelled = orders.strong(sku, 7, 2);
    orders.strong(sku, 7, 1);
    beginLoading();
    List<OrderId> bought = new ArrayList<>();
    AtomicInteger steps = new AtomicInteger();
    Runnable beforeReplacing =
        () -> {
          if (steps.incrementAndGet() == 2) { // the first snapshot is being written
            assertThat(api.cancel(cancelled, 7).status()).isEqualTo(200);
            bought.add(orders.strong(sku, 8, 3));
          }
        };

    assertThat(consumer.bean(SaleLoader.class).load(sku, 2, Replacing.AT_REST, beforeReplacing))
        .isPresent();

    int buckets = Integer.parseInt(redis.hget(RedisKeys.sku(sku), "bucketCount"));
    assertThat(redis.hgetAll(RedisKeys.bucket(sku, RedisKeys.bucketOf(7, buckets))))
        .containsAllEntriesOf(
            Map.of(RedisKeys.compensationField(cancelled), "2:2", RedisKeys.quotaField(7), "1"));
    assertThat(redis.hgetAll(RedisKeys.bucket(sku, RedisKeys.bucketOf(8, buckets))))
        .containsKey(bought.get(0).toString())
        .containsEntry(RedisKeys.quotaField(8), "3");
    assertThat(redis.get(RedisKeys.stock(sku))).isEqualTo("96");
    assertThat(redis.hgetAll(RedisKeys.sku(sku)))
        .containsAllEntriesOf(
            Map.of(
                "seq", "3",
                "settled", "3",
                "admittedOrders", "3",
                "admittedUnits", "6",
                "publishedOrders", "3",
                "publishedUnits", "6"));
  }

  /** MySQL's sale is stopped then, but an operator may discard a dead letter. */
  @Test
  void countsAnOrderThatIsSettledBeforeTheLastStep() {
    api.put(path, Sales.product("LIMITED", 5, 100));
    new StoredOrderFixture(consumer).strong(sku, 7, 1);
    beginLoading();
    Runnable settleOnce =
        () ->
            execute(
                "UPDATE products SET settled = 2"
                    + " WHERE sku_id = ? AND settled = 1 AND fallback = 'RETURNING'",
                sku);

    assertThat(consumer.bean(SaleLoader.class).load(sku, 2, Replacing.AT_REST, settleOnce))
        .isPresent();

    assertThat(redis.hget(RedisKeys.sku(sku), "seq")).isEqualTo("1");
    assertThat(consumer.product(sku, "settled")).isEqualTo("2");
    execute("UPDATE products SET settled = 1 WHERE sku_id = ?", sku); // as many as it has
  }

  private void beginLoading() {
    execute(
        "UPDATE products SET epoch = 2, state = 'OPEN', decides = 'MYSQL', fallback = 'LOADING'"
            + " WHERE sku_id = ?",
        sku);
  }

  /** As by a transaction that took longer than any does; the order is none of the changes. */
  @Test
  void putsNoSaleOnSaleWithoutAnOrderThatMySqlHasDecidedMeanwhile() {
    api.put(path, Sales.product("LIMITED", 5, 100));
    StoredOrderFixture orders = new StoredOrderFixture(consumer);
    orders.strong(sku, 7, 1);
    beginLoading();
    AtomicInteger steps = new AtomicInteger();
    Runnable beforeReplacing =
        () -> {
          if (steps.incrementAndGet() == 2) { // the first snapshot is being written
            orders.age(orders.strong(sku, 8, 1), 3_600);
          }
        };

    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(
            () -> consumer.bean(SaleLoader.class).load(sku, 2, Replacing.AT_REST, beforeReplacing))
        .extracting(e -> e.problem().code())
        .isEqualTo(ProblemCode.ORDERS_IN_FLIGHT);

    assertThat(redis.hget(RedisKeys.sku(sku), "epoch")).isEqualTo("0");
    execute(
        "UPDATE products SET state = 'CLOSED', decides = 'REDIS', fallback = 'NO' WHERE sku_id = ?",
        sku);
  }

  private OrderId id(int number) {
    return OrderId.of(OrderId.EPOCH_MS + number, Partition.ofSku(sku), 200, 1);
  }

  private void insertOrder(int number, long user, String status, int secondsAgo) {
    execute(
        "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
            + " status, epoch, seq, admitted_at, updated_at) VALUES (?, ?, ?, 1, 100, ?, ?, 1, ?,"
            + " UTC_TIMESTAMP(3), UTC_TIMESTAMP(6) - INTERVAL ? SECOND)",
        id(number).value(),
        user,
        sku,
        "request-" + number,
        status,
        number,
        secondsAgo);
  }

  /** A closing time that moves while the sale is loaded: the keys would expire too early. */
  @Test
  void loadsAgainWhenTheClosingTimeHasMovedMeanwhile() {
    api.put(path, Sales.product("LIMITED", 5, 100));
    execute("UPDATE products SET epoch = 1, state = 'PREHEATED' WHERE sku_id = ?", sku);
    Runnable move =
        () ->
            execute(
                "UPDATE products SET closes_at = closes_at + INTERVAL 1 HOUR WHERE sku_id = ?",
                sku);

    assertThat(consumer.bean(SaleLoader.class).load(sku, 1, Replacing.AT_REST, move)).isEmpty();
    assertThat(redis.hget(RedisKeys.sku(sku), "state")).isEqualTo("PREHEATING");

    Answer preheated = api.post(path + "/preheat", "");
    assertThat(preheated.status()).as(preheated.text()).isEqualTo(200);
    assertThat(redis.hget(RedisKeys.sku(sku), "closesAt"))
        .isEqualTo(Long.toString(Instant.parse(preheated.text("closesAt")).toEpochMilli()));
  }

  @Test
  void beginsNoEpochOnARedisThatMayForgetOrders() {
    api.put(path, Sales.product("LIMITED", 5, 100));
    Preheat preheat = preheat(StrictRedisSafety.of(consumer), consumer.bean(SaleLoader.class));

    assertThatExceptionOfType(ProblemException.class)
        .isThrownBy(() -> preheat.run(sku, (id, lost) -> {}))
        .extracting(e -> e.problem().code())
        .isEqualTo(ProblemCode.UNSAFE_REDIS);
    assertThat(consumer.product(sku, "epoch")).isEqualTo("0");
  }

  private static Preheat preheat(RedisSafety safety, SaleLoader loader) {
    return new Preheat(
        consumer.bean(Products.class),
        consumer.bean(InFlightCheck.class),
        safety,
        loader,
        consumer.bean(PreheatProperties.class),
        consumer.sql(),
        consumer.bean(TransactionOperations.class),
        redis);
  }

  /** Another preheat has the second slot, and a third one waits for the first. */
  @Test
  void noPreheatComesBetweenTheShardsOfAnother() {
    String four = "\"shards\":4,\"stock\"";
    api.put(path, Sales.product("ONE_PER_USER", 1, 400).replace("\"stock\"", four));
    List<Long> shards = Shards.ids(sku, 4);
    long other = create();
    long third = create();
    List<Long> loaded = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch begun = new CountDownLatch(2);
    Map<Long, CountDownLatch> ends =
        Map.of(shards.get(0), new CountDownLatch(1), other, new CountDownLatch(1));
    SaleLoader loader =
        new SaleLoader(
            consumer.bean(DatabaseSnapshots.class),
            consumer.sql(),
            redis,
            consumer.bean(SaleStates.class),
            consumer.bean(TransactionOperations.class),
            consumer.bean(Compensations.class)) {
          @Override
          public Optional<Loaded> load(
              long id, long epoch, Replacing replacing, Runnable beforeReplacing) {
            loaded.add(id);
            if (ends.containsKey(id)) {
              begun.countDown();
              Bounded.await(ends.get(id));
            }
            return super.load(id, epoch, replacing, beforeReplacing);
          }
        };
    Preheat preheat = preheat(consumer.bean(RedisSafety.class), loader);
    CompletableFuture<ProductRow> second =
        CompletableFuture.supplyAsync(() -> preheat.run(other, (id, lost) -> {}));
    CompletableFuture<ProductRow> first =
        CompletableFuture.supplyAsync(() -> preheat.run(sku, (id, lost) -> {}));
    Bounded.await(begun);
    FutureTask<ProductRow> last = new FutureTask<>(() -> preheat.run(third, (id, lost) -> {}));
    Thread waits = new Thread(last);
    waits.start();
    eventually()
        .until(
            () ->
                Stream.of(waits.getStackTrace())
                    .anyMatch(at -> at.getClassName().equals(ConnectionShare.class.getName())));

    ends.get(shards.get(0)).countDown();

    assertThat(Bounded.get(first).state().name()).isEqualTo("PREHEATED");
    ends.get(other).countDown();
    Bounded.get(second);
    Bounded.get(last);
    assertThat(loaded).containsAll(shards).contains(other).hasSize(6).endsWith(third);
    api.post(path + "/state", "{\"state\":\"CLOSED\"}");
  }

  /** Returns the id of another SKU. */
  private static long create() {
    long id = NEXT_SKU.getAndIncrement();
    api.put("/internal/v1/skus/" + id, Sales.product("LIMITED", 5, 100));
    return id;
  }

  @Test
  void opensNothingInRedisWhenMySqlsHalfFails() { // MySQL is written first
    api.put(path, Sales.product("LIMITED", 5, 100));
    assertThat(api.post(path + "/preheat", "").status()).isEqualTo(200);
    try (RowLock held = consumer.lockProduct(sku)) {
      assertThat(api.post(path + "/open", "").status()).isEqualTo(503);
      assertThat(redis.hget(RedisKeys.sku(sku), "state")).isEqualTo("PREHEATED");
      held.release();
    }
    assertThat(api.post(path + "/open", "").body().path("state").stringValue()).isEqualTo("OPEN");
    assertThat(redis.hget(RedisKeys.sku(sku), "state")).isEqualTo("OPEN");
  }

  private SaleLoading loading(long epoch) {
    return loading(redis, epoch);
  }

  private SaleLoading loading(UnifiedJedis on, long epoch) {
    ProductSnapshot sale = sale(epoch);
    return new SaleLoading(on, sale, sale.buckets());
  }

  private ProductSnapshot sale(long epoch) {
    return UnstoredProduct.of(sku).state("PREHEATED").epoch(epoch).snapshot();
  }

  private static void execute(String sql, Object... params) {
    consumer.update(sql, params);
  }
}
