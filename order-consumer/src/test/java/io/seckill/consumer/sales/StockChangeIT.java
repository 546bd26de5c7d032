package io.seckill.consumer.sales;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.sales.StockMoves.Units;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.support.web.Operator;
import io.seckill.testing.Bounded;
import io.seckill.testing.RedisServer;
import io.seckill.testing.RowLock;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionCallback;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.params.RestoreParams;

/** Redis is reached through a proxy, which can drop the request or the reply of any call. */
@ExtendWith(TestServers.class)
class StockChangeIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(8001);
  private static final String ADD = "{\"delta\":50,\"reason\":\"found a box\"}";
  private static final String ANOTHER_SERVER = "0".repeat(40);
  private static final String TAKE = "{\"delta\":-50,\"reason\":\"damaged\"}";

  private static final RestoreParams REPLACE = RestoreParams.restoreParams().replace();

  private static final String SPARE = "/internal/v1/skus/8000";

  private static TcpProxy toRedis;
  private static TestConsumer consumer;
  private static InternalApi api;
  private static StoredOrderFixture orders;

  private final long sku = NEXT_SKU.getAndIncrement();

  @BeforeAll
  static void start(RedisServer redis) throws Exception {
    toRedis = TcpProxy.to(redis);
    consumer =
        TestConsumer.start(
            database ->
                Map.of(
                    "seckill.redis.url",
                    database.via(toRedis).url(),
                    "seckill.redis.socket-timeout",
                    "3s",
                    // The tests call the sweep themselves, and make halves of moves of their own.
                    "pause.stockChangeSweeper",
                    "1h",
                    "pause.shardSweeper",
                    "1h"));
    api = consumer.api();
    orders = new StoredOrderFixture(consumer);
    api.put(SPARE, Sales.product("LIMITED", 1, 1));
  }

  /**
   * Pooled connections that were reset would each fail once more, and breakers may be open, so
   * another sale is preheated until that works, and the last calls of sweeps are good ones. What
   * waits on would be tried by the sweeps of all later tests.
   */
  @AfterEach
  void heal() {
    toRedis.heal();
    consumer.update("DELETE FROM stock_change WHERE state NOT IN ('DONE', 'REFUSED')");
    ((RedisClient) consumer.bean(UnifiedJedis.class)).getPool().clear();
    eventually().until(() -> api.post(SPARE + "/preheat", "{}").status() == 200);
    RedisCallGuard guard = consumer.bean(RedisCallGuard.class);
    eventually()
        .until(() -> IntStream.range(0, 4).allMatch(call -> guard.run(0, consumer.redis()::ping)));
  }

  @AfterAll
  static void stop() {
    consumer.close();
    toRedis.close();
  }

  @Test
  void anAdditionReachesBothStoresOnceForAnId() {
    open(100);

    Answer added = change("change-1", ADD);
    Answer again = change("change-1", ADD);

    assertThat(added.status()).isEqualTo(200);
    assertThat(added.text())
        .isEqualTo("{\"changeId\":\"change-1\",\"delta\":50,\"state\":\"DONE\",\"stock\":150}");
    assertThat(again.text()).isEqualTo(added.text());
    assertStock(150, 150);
    assertThat(consumer.redis().pexpireTime(RedisKeys.stockChanges(sku)))
        .isEqualTo(Long.parseLong(consumer.redis().hget(RedisKeys.sku(sku), "expiresAt")));
  }

  @Test
  void aWithdrawalTakesFromBothStoresOnceForAnId() {
    open(100);

    Answer taken = change("change-1", TAKE);
    Answer again = change("change-1", TAKE);

    assertThat(taken.text("state")).isEqualTo("DONE");
    assertThat(again.text()).isEqualTo(taken.text());
    assertStock(50, 50);
  }

  @Test
  void aWithdrawalOfMoreThanRedisHasIsRefusedForGood() {
    open(100);
    orders.confirmed(sku, 7, 60);

    Answer refused = change("change-1", TAKE);
    consumer.redis().incrBy(RedisKeys.stock(sku), 60);
    Answer again = change("change-1", TAKE);

    assertThat(refused.status()).isEqualTo(200);
    assertThat(refused.text("state")).isEqualTo("REFUSED");
    assertThat(again.text()).isEqualTo(refused.text());
    assertThat(orders.stockInMySql(sku)).isEqualTo(40);
    assertThat(orders.product(sku, "initial_stock")).isEqualTo("100");
  }

  /** A replica that was promoted may lack orders that MySQL has not got from the broker yet. */
  @Test
  void nothingIsTakenFromAnotherServerThanTheOneThatMySqlHas() {
    open(100);

    assertThat(applyOn(ANOTHER_SERVER)).isEqualTo(List.of(-1L, 0L));
    assertThat(orders.stockInRedis(sku)).isEqualTo(100);

    assertThat(applyOn("")).isEqualTo(List.of(1L, 1L));
    assertThat(orders.stockInRedis(sku)).isEqualTo(99);

    consumer.redis().del(RedisKeys.sku(sku));
    assertThat(applyOn(ANOTHER_SERVER)).as("it may have lost the sale").isEqualTo(List.of(-1L, 0L));
    assertThat(applyOn("")).isEqualTo(List.of(3L, 0L));
  }

  /** Takes a unit from this server's stock. */
  private Object applyOn(String server) {
    return call("change-1", -1, "apply", server);
  }

  /** The answer to the first may be lost, or the process ends before MySQL has it. */
  @Test
  void aRepeatedCallChangesNothingInRedisAndHasTheSameOutcome() {
    open(100);

    assertThat(call("taken", -1, "apply", "")).isEqualTo(List.of(1L, 1L));
    assertThat(call("taken", -1, "undo", "")).isEqualTo(List.of(1L, 2L));
    assertThat(call("taken", -1, "undo", "")).isEqualTo(List.of(1L, 2L));
    assertThat(call("never-taken", -1, "undo", "")).isEqualTo(List.of(1L, 2L));
    assertThat(orders.stockInRedis(sku)).isEqualTo(100);

    assertThat(call("refused", -101, "apply", "")).isEqualTo(List.of(0L, 3L));
    consumer.redis().incrBy(RedisKeys.stock(sku), 10);
    assertThat(call("refused", -101, "apply", "")).isEqualTo(List.of(0L, 3L));
    assertThat(call("taken", -1, "apply", "")).as("undone").isEqualTo(List.of(0L, 3L));
    assertThat(orders.stockInRedis(sku)).isEqualTo(110);
  }

  private Object call(String id, long delta, String what, String server) {
    return LuaScript.from(RedisStock.class, "stock_change.lua")
        .call(
            consumer.redis(),
            List.of(RedisKeys.sku(sku), RedisKeys.stock(sku), RedisKeys.stockChanges(sku)),
            List.of(id, "1", Long.toString(delta), what, "0", "0", server));
  }

  /** As after the promotion of a replica that lacks an order: its units are on sale there. */
  @Test
  void nothingIsTakenFromAServerThatLacksAnOrder() {
    open(100);
    consumer.update("UPDATE products SET last_seq = last_seq + 1 WHERE sku_id = ?", sku);

    assertThat(once("change-1", TAKE).code()).isEqualTo("UNAVAILABLE");
    assertThat(orders.stockInRedis(sku)).isEqualTo(100);

    consumer.redis().hincrBy(RedisKeys.sku(sku), "seq", 1);
    sweepUntilDone("change-1", 50);
    consumer.redis().hincrBy(RedisKeys.sku(sku), "seq", -1); // else the partition lacks an order
  }

  @Test
  void anIdIsForOneNumberOfUnits() {
    open(100);
    change("change-1", ADD);

    Answer refused = change("change-1", ADD.replace("50", "51"));

    assertThat(refused.status()).isEqualTo(422);
    assertThat(refused.code()).isEqualTo("IDEMPOTENCY_KEY_REUSED");
    assertStock(150, 150);
  }

  @Test
  void manyAskersOfOneIdChangeStockOnce() {
    open(100);

    for (String body : List.of(ADD, TAKE)) {
      List<Answer> answers = Collections.synchronizedList(new ArrayList<>());
      String id = "same-id-" + body.length();
      Races.race(Collections.nCopies(8, () -> answers.add(change(id, body))));
      assertThat(answers).allMatch(answer -> answer.status() == 200);
    }

    assertStock(100, 100);
  }

  @Test
  void changesAndOrdersAtTheSameTimeKeepTheStoresEqual() {
    open(1_000);
    List<Runnable> racers = new ArrayList<>();
    for (int racer = 0; racer < 4; racer++) {
      String name = "racer-" + racer + "-";
      racers.add(
          () -> {
            for (int i = 0; i < 15; i++) {
              assertThat(change(name + i, i % 2 == 0 ? ADD : TAKE).status()).isEqualTo(200);
            }
          });
    }
    for (long user = 1; user <= 2; user++) {
      long buyer = user;
      racers.add(
          () -> {
            for (int i = 0; i < 30; i++) {
              orders.confirmed(sku, buyer, 1);
            }
          });
    }

    Races.race(racers);

    assertThat(orders.stockInMySql(sku)).isEqualTo(1_000 + 4 * (8 - 7) * 50 - 60);
    assertThat(orders.stockInRedis(sku)).isEqualTo(orders.stockInMySql(sku));
  }

  @Test
  void anAdditionThatLosesItsWayToRedisIsFinishedByTheSweep() {
    open(100);
    toRedis.cut();

    assertThat(once("change-1", ADD).code()).isEqualTo("UNAVAILABLE");
    assertThat(orders.stockInMySql(sku)).isEqualTo(150);
    assertThat(orders.stockInRedis(sku)).isEqualTo(100);
    toRedis.heal();

    sweepUntilDone("change-1", 150);
  }

  @ParameterizedTest
  @ValueSource(strings = {ADD, TAKE})
  void aLostAnswerOfRedisNeverChangesStockTwice(String body) {
    open(100);
    api.get("/internal/v1/skus/" + sku);
    change("warm-up-1", ADD);
    change("warm-up-2", TAKE);
    long expected = body.equals(ADD) ? 150 : 50;
    toRedis.dropToClient(true);

    CompletableFuture<Answer> asked = CompletableFuture.supplyAsync(() -> once("change-1", body));
    eventually().until(() -> asked.isDone() || orders.stockInRedis(sku) == expected);
    toRedis.cut(); // or the answer would be waited for
    assertThat(Bounded.get(asked).code()).isEqualTo("UNAVAILABLE");
    toRedis.heal();

    assertThat(change("change-1", body).text("state")).isEqualTo("DONE");
    assertStock(expected, expected);
  }

  /**
   * As after a crash between the changes of Redis and MySQL: MySQL refuses with a lock wait
   * time-out.
   */
  @Test
  void aWithdrawalThatStopsHalfWayIsFinishedByTheSweep() {
    open(100);
    try (RowLock held = consumer.lockProduct(sku)) {
      eventually() // Redis, too, may have been late
          .untilAsserted(
              () -> {
                assertThat(once("change-1", TAKE).code()).isEqualTo("UNAVAILABLE");
                assertThat(orders.stockInRedis(sku)).isEqualTo(50);
              });
      held.release();
    }
    assertThat(orders.stockInMySql(sku)).isEqualTo(100);
    assertThat(orders.stockInRedis(sku)).isEqualTo(50);

    sweepUntilDone("change-1", 50);
  }

  @Test
  void aPreheatBetweenTheHalvesOfAWithdrawalIsNotUndoneByIt() {
    open(100);
    insert(sku, "change-1", -50, "PENDING");
    assertThat(call("change-1", -50, "apply", "")).isEqualTo(List.of(1L, 1L));
    preheatTo(2, 100);

    sweepUntilDone("change-1", 50);
  }

  @Test
  void aPreheatBetweenTheHalvesOfAnAdditionCountsItOnce() {
    open(100);
    toRedis.cut();
    once("change-1", ADD);
    toRedis.heal();
    preheatTo(2, 150);

    sweepUntilDone("change-1", 150);
  }

  @ParameterizedTest
  @ValueSource(strings = {ADD, TAKE})
  void aChangeWaitsForAPreheatThatIsOnItsWayToRedis(String body) {
    new Sales(consumer).openInMySql(sku, "LIMITED", 5, 100);
    consumer.update("UPDATE products SET state = 'PREHEATED' WHERE sku_id = ?", sku);

    waitsForTheSaleInRedis(body);
  }

  /** The rebuild may have read MySQL's stock before the change. */
  @ParameterizedTest
  @ValueSource(strings = {ADD, TAKE})
  void aChangeWaitsForARebuildOfWhatRedisHasLost(String body) {
    new Sales(consumer).openInMySql(sku, "LIMITED", 5, 100);

    waitsForTheSaleInRedis(body);
  }

  private void waitsForTheSaleInRedis(String body) {
    assertThat(once("change-1", body).code()).isEqualTo("UNAVAILABLE");
    new Sales(consumer).openInRedis(sku, "LIMITED", 5, 100);

    sweepUntilDone("change-1", body.equals(ADD) ? 150 : 50);
  }

  @Test
  void manyChangesThatWaitDoNotKeepTheSweepFromOneOfAnotherSku() {
    long healthy = NEXT_SKU.getAndIncrement();
    new Sales(consumer).openInMySql(sku, "LIMITED", 5, 100);
    new Sales(consumer).open(healthy, "LIMITED", 5, 100);
    insertWaiting(sku, 100);
    insertWaiting(healthy, 1);

    eventually()
        .untilAsserted(
            () -> {
              consumer.bean(StockChanges.class).sweep();
              assertThat(orders.stockInRedis(healthy)).isEqualTo(99);
            });
    assertThat(state("waiting-100")).isEqualTo("PENDING");
  }

  @Test
  void aSweepAsksARedisThatDoesNotAnswerOnce() {
    open(1_000);
    insertWaiting(sku, 100);
    toRedis.cut();
    long before = toRedis.resetConnections();

    consumer.bean(StockChanges.class).sweep();

    assertThat(toRedis.resetConnections() - before).as("calls").isLessThan(50);
    assertThat(state("waiting-100")).isEqualTo("PENDING");
    assertThat(orders.stockInMySql(sku)).isEqualTo(1_000);
  }

  /** Each change waited for a connection. One that is locked keeps no other waiting. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aSweepAsksAMySqlThatDoesNotAnswerOnce(boolean isAway) {
    open(1_000);
    insert(sku, "change-1", 50, "PENDING");
    insert(sku, "change-2", 50, "PENDING");
    RuntimeException failure =
        isAway
            ? new CannotCreateTransactionException("for the test")
            : new CannotAcquireLockException("for the test");
    AtomicInteger asked = new AtomicInteger();
    StockChanges changes =
        with(
            new TransactionOperations() {
              @Override
              public <T extends @Nullable Object> T execute(TransactionCallback<T> work) {
                asked.incrementAndGet();
                throw failure;
              }
            });

    Throwable thrown = catchThrowable(changes::sweep);

    assertThat(thrown).isSameAs(isAway ? failure : null);
    assertThat(asked).hasValue(isAway ? 1 : 2);
  }

  /** Withdrawals of a unit whose process has died. */
  private static void insertWaiting(long skuId, int count) {
    consumer.update(
        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, updated_at)"
            + " WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
            + " SELECT ?, CONCAT('waiting-', i), -1, '', '', 1, NOW(6) - INTERVAL 1 HOUR FROM n",
        count,
        skuId);
  }

  @Test
  void anAdditionAfterTheSaleNeedsNoRedis() {
    new Sales(consumer).openInMySql(sku, "LIMITED", 5, 100);
    consumer.update("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = ?", sku);

    assertThat(change("change-1", ADD).text("state")).isEqualTo("DONE");
    assertThat(orders.stockInMySql(sku)).isEqualTo(150);
  }

  /** Until it is closed, orders of it may be in flight. */
  @Test
  void aWithdrawalAfterTheSaleWaitsForItsClose() {
    new Sales(consumer).openInMySql(sku, "LIMITED", 5, 100);
    consumer.update("UPDATE products SET closes_at = UTC_TIMESTAMP(3) WHERE sku_id = ?", sku);

    Answer waits = once("change-1", TAKE);
    assertThat(waits.code()).isEqualTo("UNAVAILABLE");
    assertThat(waits.text("detail")).contains("if the sale is over, close it");
    assertThat(orders.stockInMySql(sku)).isEqualTo(100);

    consumer.update("UPDATE products SET state = 'CLOSED' WHERE sku_id = ?", sku);
    eventually()
        .until(
            () -> {
              sweep();
              return state("change-1").equals("DONE");
            });
    assertThat(orders.stockInMySql(sku)).isEqualTo(50);
  }

  @Test
  void aProductThatWasNeverPreheatedChangesInMySqlAlone() {
    api.put("/internal/v1/skus/" + sku, Sales.product("LIMITED", 5, 100));

    assertThat(change("change-1", ADD).text("state")).isEqualTo("DONE");
    assertThat(change("change-2", TAKE).number("stock")).isEqualTo(100);
    assertThat(change("change-3", "{\"delta\":-101,\"reason\":\"too many\"}").text())
        .contains("REFUSED");
    assertThat(consumer.redis().exists(RedisKeys.stock(sku))).isFalse();
  }

  /** Redis has more stock than MySQL, as after a loss of data. */
  @Test
  void unitsThatMySqlDoesNotHaveGoBackToRedisForReconciliation() {
    open(100);
    orders.confirmed(sku, 7, 80);
    consumer.redis().set(RedisKeys.stock(sku), "100");

    Answer refused = change("change-1", TAKE);

    assertThat(refused.text("state")).isEqualTo("REFUSED");
    assertThat(orders.stockInMySql(sku)).isEqualTo(20);
    assertThat(orders.stockInRedis(sku)).isEqualTo(100);
    assertThat(orders.product(sku, "initial_stock")).isEqualTo("100");
  }

  @Test
  void anAdditionBeyondTheBoundIsRefused() {
    open(100);

    assertThat(change("change-1", "{\"delta\":1000000000,\"reason\":\"x\"}").text())
        .contains("REFUSED");
    assertStock(100, 100);
  }

  @Test
  void aChangeNeedsAKeyAReasonAndAProduct() {
    open(100);

    for (String key : List.of("", "short", "with space", "x".repeat(65))) {
      assertThat(change(key, ADD).field()).isEqualTo("Idempotency-Key");
    }
    assertThat(change("change-1", "{\"delta\":5}").field()).isEqualTo("reason");
    assertThat(change("change-1", "{\"delta\":5,\"reason\":\"a\\nb\"}").field())
        .isEqualTo("reason");
    assertThat(
            api.with("Idempotency-Key", "change-1")
                .post("/internal/v1/skus/999999/stock", ADD)
                .code())
        .isEqualTo("UNKNOWN_SKU");
    assertStock(100, 100);
  }

  /**
   * As after a crash of the mover at each point of a half of a move: before Redis, between the
   * stores, after both, or before units that MySQL did not have go back to Redis. Each is finished
   * once, also when the sale is closed meanwhile, and no unit is anywhere twice.
   */
  @ParameterizedTest
  @CsvSource({
    "-30, PENDING, false, false, 70, 30",
    "-30, PENDING, true, false, 70, 30",
    "-30, PENDING, true, true, 70, 30",
    "-300, PENDING, false, false, 100, 0",
    "-30, UNDOING, true, false, 100, 0",
    "20, PENDING, false, false, 120, -20",
    "20, MYSQL_DONE, false, false, 120, -20",
    "20, MYSQL_DONE, false, true, 120, -20",
    "20, MYSQL_DONE, true, false, 120, -20"
  })
  void aHalfOfAMoveThatStopsAnywhereIsFinishedBySweeps(
      long delta, String state, boolean inRedis, boolean isClosed, long inShard, long pooled) {
    String path = "/internal/v1/skus/" + sku;
    long shard = openInShards();
    if (isClosed) {
      api.post(path + "/open");
      assertThat(api.post(path + "/state", "{\"state\":\"CLOSED\"}").status()).isEqualTo(200);
    }
    consumer.update("UPDATE products SET stock = stock + 50 WHERE sku_id = ?", sku); // a top-up
    consumer.update("UPDATE products SET initial_stock = initial_stock + 50 WHERE sku_id = ?", sku);
    if (state.equals("MYSQL_DONE")) {
      for (String column : List.of("stock", "initial_stock")) {
        consumer.update(
            "UPDATE products SET " + column + " = " + column + " + ? WHERE sku_id = ?",
            delta,
            shard);
      }
      consumer.update("UPDATE products SET stock = stock - ? WHERE sku_id = ?", delta, sku);
    }
    if (inRedis) {
      consumer.redis().incrBy(RedisKeys.stock(shard), delta);
      consumer.redis().hset(RedisKeys.stockChanges(shard), "move-1", "1:" + delta + ":A");
    }
    insert(shard, "move-1", delta, state);

    eventually()
        .untilAsserted(
            () -> {
              consumer.update("UPDATE stock_change SET updated_at = NOW(6) - INTERVAL 1 HOUR");
              consumer.bean(StockChanges.class).sweep();
              assertThat(orders.stockInMySql(shard)).isEqualTo(inShard);
              assertThat(orders.product(shard, "initial_stock")).isEqualTo(Long.toString(inShard));
              assertThat(orders.stockInRedis(shard)).isEqualTo(inShard);
            });
    assertThat(orders.stockInMySql(sku)).isEqualTo(50 + pooled);
    assertBalanced();
  }

  /** Its process ended before it gathered the units, or while a shard's were on their way. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aWithdrawalFromShardsThatStopsIsFinishedBySweeps(boolean isOnTheWay) {
    long shard = openInShards();
    insert(sku, "change-1", -350, "PENDING");
    if (isOnTheWay) {
      beginMove(shard);
    }

    eventually()
        .until(
            () -> {
              consumer.update("UPDATE stock_change SET updated_at = NOW(6) - INTERVAL 1 HOUR");
              consumer.bean(StockChanges.class).sweep();
              return unfinished(sku) + unfinished(shard) == 0;
            });
    assertThat(orders.product(sku, "initial_stock")).isEqualTo("50");
    assertBalanced();
  }

  /** Redis may be late. */
  private void assertBalanced() {
    eventually()
        .untilAsserted(
            () -> {
              Answer ledger = api.get("/internal/v1/skus/" + sku + "/ledger");
              assertThat(ledger.body().path("balanced").asBoolean()).as(ledger.text()).isTrue();
            });
  }

  /** MySQL's clock was set back since the move began. */
  @Test
  void aWithdrawalIsNotRefusedForUnitsWhoseMoveIsFromATimeToCome() {
    long shard = openInShards();
    beginMove(shard);
    consumer.update(
        "UPDATE stock_change SET updated_at = NOW(6) + INTERVAL 1 HOUR WHERE sku_id = ?", shard);
    String most = "{\"delta\":-350,\"reason\":\"damaged\"}"; // the others have 300

    assertThat(once("change-1", most).code()).isEqualTo("UNAVAILABLE");

    sweepUntilFinished(shard);
    assertThat(change("change-1", most).text("state")).isEqualTo("DONE");
  }

  /** Another withdrawal has taken what was gathered for this one, or a shard got it. */
  @Test
  void aWithdrawalWhoseGatheredUnitsAreGoneGathersOthers() {
    openInShards();
    insert(sku, "change-1", -100, "PENDING");

    changeMySql(read("change-1"));
    assertThat(state("change-1")).isEqualTo("PENDING");

    eventually()
        .until(
            () -> {
              sweep();
              return state("change-1").equals("DONE");
            });
    assertThat(orders.product(sku, "initial_stock")).isEqualTo("300");
    assertThat(change("change-2", "{\"delta\":-301,\"reason\":\"too many\"}").text("state"))
        .isEqualTo("REFUSED");
  }

  /** MySQL's keep what they have reserved; Redis forgets a sale after its end. */
  @Test
  void aWithdrawalGathersUnitsOfShardsThatRedisDoesNotHave() {
    openInShards();
    eachShard("decides = 'MYSQL', fallback = 'ENTERING'");
    assertThat(once("change-1", TAKE).code()).isEqualTo("BUSY");
    eachShard("decides = 'MYSQL', fallback = 'ACTIVE', reserved_units = 20");
    assertThat(change("change-1", "{\"delta\":-150,\"reason\":\"damaged\"}").text("state"))
        .isEqualTo("DONE");
    assertThat(change("change-2", "{\"delta\":-171,\"reason\":\"too many\"}").text("state"))
        .isEqualTo("REFUSED");

    eachShard("decides = 'REDIS', fallback = 'NO', reserved_units = 0");
    String path = "/internal/v1/skus/" + sku;
    api.post(path + "/open");
    assertThat(api.post(path + "/state", "{\"state\":\"CLOSED\"}").status()).isEqualTo(200);
    for (long shard : Shards.ids(sku, 4)) {
      consumer.redis().del(RedisKeys.sku(shard), RedisKeys.stock(shard));
    }
    assertThat(change("change-3", TAKE).text("state")).isEqualTo("DONE");
    assertThat(orders.product(sku, "initial_stock")).isEqualTo("200");
  }

  private void eachShard(String set) {
    for (long shard : Shards.ids(sku, 4)) {
      consumer.update("UPDATE products SET " + set + " WHERE sku_id = ?", shard);
    }
  }

  /** Each move begins after the pool was read, and ends before the shards are; or one does not. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aWithdrawalIsNotRefusedForUnitsThatMoveWhileTheyAreCounted(boolean doAllEnd) {
    openInShards();
    List<Long> shards = Shards.ids(sku, 4);
    StockMoves moves = consumer.bean(StockMoves.class);
    AtomicInteger reads = new AtomicInteger();
    RedisCallGuard moving =
        new RedisCallGuard(consumer.redis(), new SimpleMeterRegistry()) {
          @Override
          public boolean run(int part, Runnable work) {
            int read = reads.getAndIncrement();
            if (read % 4 == 0 && (doAllEnd || read < 8)) {
              moves.take(List.of(new Units(shards.get(read / 4), 100)));
            } else if (read == 8) { // the last round
              beginMove(shards.get(2));
            }
            return super.run(part, work);
          }
        };
    assertThat(counting(moving).gather(ProductRows.find(consumer.sql(), sku).orElseThrow(), 400))
        .isEqualTo(StockMoves.Gathered.MAYBE_LATER);
    sweepUntilFinished(shards.get(2));
  }

  /** In each round the shard that is asked has sold a unit since its stock was read. */
  @Test
  void aWithdrawalIsNotRefusedForUnitsThatAreSoldWhileOthersHaveEnough() {
    openInShards();
    List<Long> shards = Shards.ids(sku, 4);
    AtomicInteger calls = new AtomicInteger();
    RedisCallGuard selling =
        new RedisCallGuard(consumer.redis(), new SimpleMeterRegistry()) {
          @Override
          public boolean run(int part, Runnable work) {
            if (calls.getAndIncrement() % 5 == 4) { // four reads, then the withdrawal
              Units richest = StockMoves.richest(stocks(shards), 1).get(0);
              consumer.redis().decr(RedisKeys.stock(richest.shardId()));
            }
            return super.run(part, work);
          }
        };

    assertThat(
            counting(selling)
                .gather(
                    ProductRows.find(consumer.sql(), sku).orElseThrow(),
                    stocks(shards).get(0).units()))
        .isEqualTo(StockMoves.Gathered.MAYBE_LATER);
  }

  private static List<Units> stocks(List<Long> shards) {
    return shards.stream()
        .map(id -> new Units(id, Long.parseLong(consumer.redis().get(RedisKeys.stock(id)))))
        .toList();
  }

  private static StockMoves counting(RedisCallGuard guard) {
    return new StockMoves(
        consumer.bean(StockChangeTable.class),
        consumer.bean(RedisStock.class),
        consumer.bean(DatabaseStock.class),
        consumer.bean(TransactionOperations.class),
        consumer.redis(),
        guard,
        new SimpleMeterRegistry());
  }

  /** A move of 100 units that Redis has made, and MySQL has not. */
  private static void beginMove(long shard) {
    insert(shard, "move-1", -100, "PENDING");
    consumer.redis().incrBy(RedisKeys.stock(shard), -100);
    consumer.redis().hset(RedisKeys.stockChanges(shard), "move-1", "1:-100:A");
  }

  /** MySQL decided it when the withdrawal began; Redis has its units by now. */
  @Test
  void aWithdrawalThatRedisWasNotAskedForWaitsWhenRedisDecides() {
    open(100);
    insert(sku, "change-1", -50, "PENDING");

    changeMySql(read("change-1"));
    assertThat(state("change-1")).isEqualTo("PENDING");
    assertStock(100, 100);

    sweepUntilDone("change-1", 50);
  }

  /** Orders that Redis has promised are not stored yet, and their units not reserved. */
  @ParameterizedTest
  @ValueSource(longs = {-50, 50})
  void aChangeThatFindsAFallbackBegunWaitsInMySql(long delta) {
    open(100);
    insert(sku, "change-1", delta, "PENDING");
    decides("MYSQL", "ENTERING");

    changeMySql(read("change-1"));
    assertThat(state("change-1")).isEqualTo("PENDING");
    assertStock(100, 100);

    decides("REDIS", "NO");
    sweepUntilDone("change-1", 100 + delta);
  }

  /** Two processes may have read it before the first of them makes it. */
  @ParameterizedTest
  @ValueSource(longs = {-50, 50})
  void aChangeThatWasReadTwiceIsMadeOnceInMySql(long delta) {
    open(100);
    insert(sku, "change-1", delta, "PENDING");
    decides("MYSQL", "ACTIVE");
    StockChange read = read("change-1");

    changeMySql(read);
    changeMySql(read);

    assertThat(state("change-1")).isEqualTo("DONE");
    assertStock(100 + delta, 100);
    decides("REDIS", "NO");
  }

  private void decides(String store, String fallback) {
    consumer.update(
        "UPDATE products SET decides = ?, fallback = ? WHERE sku_id = ?", store, fallback, sku);
  }

  private StockChange read(String changeId) {
    StockChange read =
        new StockChange(sku, changeId, 0, 1, ChangeState.PENDING); // all but the units
    return consumer.bean(StockChangeTable.class).read(read);
  }

  /** As a process does whose look at the sale is older. */
  private static void changeMySql(StockChange change) {
    DatabaseStock stock = consumer.bean(DatabaseStock.class);
    consumer
        .bean(TransactionOperations.class)
        .executeWithoutResult(
            tx -> {
              if (change.isAddition()) {
                stock.add(change);
              } else {
                stock.withdraw(change, DatabaseStock.NOT_ASKED);
              }
            });
  }

  /** A time-out for each would be longer than a gateway waits. */
  @Tag("proof")
  @Test
  void aPauseDoesNotWaitForEachShardOfARedisThatHangs() {
    String path = "/internal/v1/skus/" + sku;
    String many = "\"shards\":16,\"stock\"";
    api.put(path, Sales.product("ONE_PER_USER", 1, 800).replace("\"stock\"", many));
    eventually().until(() -> api.post(path + "/preheat").status() == 200);
    eventually().until(() -> api.post(path + "/open").status() == 200); // a breaker may be open
    toRedis.dropToServer(true);
    long started = System.nanoTime();

    Answer paused = api.post(path + "/state", "{\"state\":\"PAUSED\"}");

    assertThat(paused.text("state")).as(paused.text()).isEqualTo("PAUSED");
    assertThat(Duration.ofNanos(System.nanoTime() - started)).isLessThan(Duration.ofSeconds(24));
  }

  private static long unfinished(long id) {
    return consumer
        .sql()
        .sql(
            "SELECT COUNT(*) FROM stock_change WHERE state NOT IN ('DONE', 'REFUSED')"
                + " AND sku_id = ?")
        .param(id)
        .query(Long.class)
        .single();
  }

  private static void insert(long id, String changeId, long delta, String state) {
    consumer.update(
        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state,"
            + " updated_at) VALUES (?, ?, ?, '', '', 1, ?, NOW(6) - INTERVAL 1 HOUR)",
        id,
        changeId,
        delta,
        state);
  }

  /**
   * As after the promotion of a replica that has every order, but not the last change of the stock.
   */
  @ParameterizedTest
  @CsvSource({
    "withdrawn, false",
    "added, false",
    "refused, false",
    "undone, false",
    "taken, true",
    "given, true",
    "gathered, true"
  })
  void aServerThatLacksAChangeIsBehindAndNothingIsTakenFromIt(String change, boolean inShards) {
    long changed = sku;
    if (inShards) {
      changed = openInShards();
      change("change-0", "{\"delta\":9,\"reason\":\"for moves\"}");
    } else {
      open(100);
    }
    change("change-1", ADD);
    Map<String, byte[]> replica = copy(changed);

    make(change, changed);
    assertThat(isLost(changed)).as("by the server that has it").isFalse();
    replica.forEach((key, value) -> consumer.redis().restore(key, 0, value, REPLACE));

    assertThat(isLost(changed)).as("by the server that lacks it").isTrue();
    String stock = consumer.redis().get(RedisKeys.stock(changed));
    if (inShards) {
      String all = "{\"delta\":-400,\"reason\":\"all\"}"; // without those of this shard
      assertThat(once("change-8", all).code()).isEqualTo("UNAVAILABLE");
    } else {
      assertThat(once("change-8", TAKE).code()).isEqualTo("UNAVAILABLE");
      assertThat(once("change-9", ADD).code()).isEqualTo("UNAVAILABLE");
    }
    assertThat(consumer.redis().get(RedisKeys.stock(changed))).isEqualTo(stock);
  }

  /** It counts no changes: the number that MySQL has is of an earlier epoch. */
  @Test
  void aSaleThatAFormerReleaseHasLoadedGoesOnFromTheNumberOfMySql() {
    open(100);
    consumer.redis().hdel(RedisKeys.sku(sku), "changeSeq");
    consumer.update("UPDATE products SET change_seq = 3 WHERE sku_id = ?", sku);

    assertThat(isLost(sku)).isFalse();
    assertThat(change("change-1", TAKE).text("state")).isEqualTo("DONE");

    assertThat(orders.product(sku, "change_seq")).isEqualTo("4");
    assertThat(isLost(sku)).isFalse();
    consumer.redis().hset(RedisKeys.sku(sku), "changeSeq", "3");
    assertThat(isLost(sku)).as("by a server that lacks it").isTrue();
  }

  private void make(String change, long id) {
    StockMoves moves = consumer.bean(StockMoves.class);
    switch (change) {
      case "withdrawn" -> change("change-2", TAKE);
      case "added" -> change("change-2", ADD);
      case "refused" -> change("change-2", "{\"delta\":-151,\"reason\":\"too many\"}");
      case "undone" -> {
        consumer.redis().incrBy(RedisKeys.stock(id), 50);
        change("change-2", "{\"delta\":-200,\"reason\":\"MySQL has fewer\"}");
      }
      case "taken" -> moves.take(List.of(new Units(id, 3)));
      case "given" -> moves.give(List.of(new Units(id, 3)));
      case "gathered" -> change("change-2", "{\"delta\":-380,\"reason\":\"of all\"}");
      default -> throw new IllegalArgumentException(change);
    }
    sweepUntilFinished(id);
  }

  /** While MySQL is away the proof would be renewed, although the units are on sale. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anAdditionWhoseCommitHasNoAnswerTakesBackThatNoneIsLeft(boolean bySweep) {
    long shard = openInShards();
    ShardProofs proofs = consumer.bean(ShardProofs.class);
    long found = System.currentTimeMillis();
    proofs.write(shard, 1, 0, found);
    StockChanges changes = withoutAnswers();

    if (bySweep) {
      insert(sku, "change-1", 50, "PENDING");
      changes.sweep();
    } else {
      assertThatThrownBy(() -> changes.change(sku, "change-1", 50, "a box", new Operator("tester")))
          .hasMessage("no answer");
    }

    assertThat(state("change-1")).isEqualTo("DONE");
    assertThat(proofs.renew(shard, 1, found, System.currentTimeMillis())).isFalse();
    assertThat(consumer.redis().hget(RedisKeys.sku(shard), "elsewhere")).startsWith("-1:");
  }

  /** MySQL commits, and its answer gets lost. */
  private static StockChanges withoutAnswers() {
    TransactionOperations transactions = consumer.bean(StockChanges.class).transactions();
    return with(
        new TransactionOperations() {
          @Override
          public <T extends @Nullable Object> T execute(TransactionCallback<T> work) {
            transactions.execute(work);
            throw new TransactionSystemException("no answer");
          }
        });
  }

  private static StockChanges with(TransactionOperations transactions) {
    StockChanges changes = consumer.bean(StockChanges.class);
    return new StockChanges(
        changes.table(),
        changes.redis(),
        changes.mysql(),
        changes.moves(),
        changes.proofs(),
        changes.guard(),
        changes.jdbc(),
        transactions);
  }

  /** Returns the id of a shard. */
  private long openInShards() {
    String path = "/internal/v1/skus/" + sku;
    String four = "\"shards\":4,\"stock\"";
    api.put(path, Sales.product("ONE_PER_USER", 1, 400).replace("\"stock\"", four));
    api.post(path + "/preheat");
    return Shards.id(sku, 1);
  }

  private static Map<String, byte[]> copy(long id) {
    Map<String, byte[]> copy = new HashMap<>();
    List.of(RedisKeys.sku(id), RedisKeys.stock(id), RedisKeys.stockChanges(id)).stream()
        .filter(consumer.redis()::exists)
        .forEach(key -> copy.put(key, consumer.redis().dump(key)));
    return copy;
  }

  private static boolean isLost(long id) {
    return RedisSaleState.read(consumer.redis(), id)
        .isLostOf(ProductRows.find(consumer.sql(), id).orElseThrow());
  }

  private void open(long stock) {
    new Sales(consumer).open(sku, "LIMITED", 1_000, stock);
  }

  /** Closes the sale and preheats it again, in both stores. */
  private void preheatTo(int epoch, long stock) {
    api.post("/internal/v1/skus/" + sku + "/state", "{\"state\":\"CLOSED\"}");
    Answer row = // a close that Redis has missed reaches it within a second or two
        eventually()
            .until(
                () -> api.post("/internal/v1/skus/" + sku + "/preheat", ""),
                answer -> answer.status() == 200);
    assertThat(row.body().path("epoch").intValue()).as(row.text()).isEqualTo(epoch);
    assertThat(row.number("stock")).isEqualTo(stock);
  }

  /** The answer at its end: one that is 503, because Redis is slow, is sent again. */
  private Answer change(String key, String body) {
    return eventually().until(() -> once(key, body), answer -> answer.status() != 503);
  }

  private Answer once(String key, String body) {
    return api.with("Idempotency-Key", key).post("/internal/v1/skus/" + sku + "/stock", body);
  }

  private void sweep() {
    consumer.update(
        "UPDATE stock_change SET updated_at = NOW(6) - INTERVAL 1 HOUR WHERE sku_id = ?", sku);
    consumer.bean(StockChanges.class).sweep();
  }

  /**
   * A pooled connection that was reset fails once more, and Redis may be late; the next sweep goes
   * on.
   */
  private void sweepUntilDone(String changeId, long inBothStores) {
    eventually()
        .untilAsserted(
            () -> {
              sweep();
              assertStock(inBothStores, inBothStores);
              assertThat(state(changeId)).isEqualTo("DONE");
            });
  }

  private static void sweepUntilFinished(long id) {
    eventually()
        .until(
            () -> {
              consumer.bean(StockChanges.class).sweep();
              return unfinished(id) == 0;
            });
  }

  private String state(String changeId) {
    return consumer.text(
        "SELECT state FROM stock_change WHERE sku_id = ? AND change_id = ?", sku, changeId);
  }

  private void assertStock(long inMySql, long inRedis) {
    assertThat(orders.stockInMySql(sku)).isEqualTo(inMySql);
    assertThat(orders.product(sku, "initial_stock")).isEqualTo(Long.toString(inMySql));
    assertThat(orders.stockInRedis(sku)).isEqualTo(inRedis);
  }
}
