package io.seckill.consumer.shards;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.sales.ShardProofs;
import io.seckill.consumer.sales.StockMoves;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.testing.Bounded;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.transaction.support.TransactionOperations;

/** Units move between shards to where they are asked for. */
@ExtendWith(TestServers.class)
class ShardMovesIT extends SkuInShards {

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
    sweepMovesOf(stuck);
    awaitMoves();
    assertThat(stock(stuck)).isEqualTo(85);
    moves.give(List.of(new StockMoves.Units(stuck, 2)));
    assertThat(stock(stuck)).isEqualTo(87);
    state("CLOSED");
  }

  /** As the next round does, up to five seconds later. */
  private static void sweepMovesOf(long shard) {
    consumer.update(
        "UPDATE stock_change SET updated_at = NOW(6) - INTERVAL 1 HOUR WHERE sku_id = ?", shard);
    consumer.sweep("stockChangeSweeper");
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
    sweepMovesOf(shards.get(0));
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

  /** -1 when it is not known. */
  private static long elsewhere(long shard) {
    String known = redis.hget(RedisKeys.sku(shard), "elsewhere");
    return known == null ? -1 : Long.parseLong(known.substring(0, known.indexOf(':')));
  }
}
