package io.seckill.system.faults;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.system.ShardedSale;
import io.seckill.system.agent.inside.PointAction;
import io.seckill.system.shop.Answer;
import io.seckill.testing.TestServers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults while the units of a SKU move between its shards. */
@Tag("proof")
@ExtendWith({TestServers.class, FaultLabExtension.class})
class ShardFaultsIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(281_001);

  private static final int SHARDS = 4;
  private static final int STOCK = 400;
  private static final int SHOPPERS = 500;

  private final FaultLab lab;
  private final long sku = NEXT_SKU.getAndIncrement();
  private final ShardedSale sale = new ShardedSale(sku, SHARDS, STOCK);

  ShardFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  /** All shoppers are in one shard, so that units have to move. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        Failpoints.MOVE_BEGUN,
        Failpoints.MOVE_TAKEN,
        Failpoints.MOVE_POOLED,
        Failpoints.MOVE_GIVEN,
        Failpoints.MOVE_NOT_MARKED
      })
  void aMoverIsKilledAtAPointOfAMoveAndSoIsItsSuccessor(String point) throws SQLException {
    sale.open(lab.admin());
    lab.consumers().forEach(consumer -> consumer.agent().arm(point, PointAction.HALT, 1));
    List<CompletableFuture<Answer>> answers =
        sale.buy(lab.shops(), sale.users(SHOPPERS, shard -> shard == 2));
    lab.consumers().forEach(consumer -> consumer.awaitDeathAt(point));

    lab.consumers().forEach(ServiceInstance::restart);

    assertSoldOut(answers);
  }

  /**
   * The mover sleeps for a time in which another one leads, and wakes in the middle of a move; or
   * the writer of a shard does, whose row is locked until MySQL ends the transaction.
   */
  @ParameterizedTest
  @ValueSource(strings = {Failpoints.MOVE_TAKEN, Failpoints.MOVE_GIVEN, Failpoints.BEFORE_COMMIT})
  void aFrozenConsumerWakesInTheMiddleOfAMoveOrABatch(String point) throws SQLException {
    sale.open(lab.admin());
    List<CompletableFuture<Answer>> answers =
        buyUntilAMoverIsAt(point, sale.users(SHOPPERS, shard -> shard == 2));
    Map<String, Integer> codes = ShardedSale.codes(answers); // the other one sells all
    release(point);

    assertThat(codes).isEqualTo(Map.of("202", STOCK, "SOLD_OUT", SHOPPERS - STOCK));
    sale.judgeSoldOut(lab.admin(), lab.sales());
  }

  /** Units of every shard are sold out, then some return: to whom it was refused may buy again. */
  @Test
  void unitsThatReturnAreSoldToShoppersOfOtherShards() throws SQLException {
    sale.open(lab.admin());
    List<Long> users = sale.users(SHOPPERS, shard -> true);
    List<CompletableFuture<Answer>> answers = sale.buy(lab.shops(), users);
    assertSoldOut(answers);

    List<Long> buyers = new ArrayList<>();
    for (int i = 0; i < users.size() && buyers.size() < 8; i++) {
      Answer answer = answers.get(i).orTimeout(1, TimeUnit.MINUTES).join();
      if (answer.status() == 202 && Shards.of(users.get(i), SHARDS) == 0) {
        long user = users.get(i);
        buyers.add(user);
        Signals.await(
            "an order to be cancelled",
            () -> lab.shops().get(0).cancel(user, answer.text("orderId")).status() == 200);
      }
    }
    Signals.await(
        "the units to be back",
        () -> !"0".equals(lab.redis().get(RedisKeys.stock(Shards.id(sku, 0)))));
    List<Long> later = sale.users(SHOPPERS + 100, shard -> shard == 3);
    Signals.await( // a proof counts for a second
        "a shopper of another shard to get one",
        () ->
            lab.shops().get(0).buy(later.get(later.size() - 1), sku, 1, "after-a-return").status()
                == 202);
  }

  /** All return to their shards at once, and are sold to shoppers of one. */
  @Test
  void theUnitsOfAThousandOrdersThatExpireAtOnceAreSoldAgain() throws SQLException {
    ShardedSale large = new ShardedSale(sku, SHARDS, 1_000);
    large.open(lab.admin());
    List<Long> ids = Shards.ids(sku, SHARDS);
    assertThat(ShardedSale.codes(large.buy(lab.shops(), large.users(1_000, shard -> true))))
        .isEqualTo(Map.of("202", 1_000));
    large.judgeSoldOut(lab.admin(), lab.sales());
    Signals.await(
        "shards to show that none is left", () -> ids.stream().allMatch(this::showsNoneElsewhere));

    lab.database()
        .execute(
            "UPDATE orders SET created_at = created_at - INTERVAL 1 DAY"
                + " WHERE sku_id BETWEEN %d AND %d".formatted(ids.get(0), ids.get(SHARDS - 1)));
    Signals.await(
        "all units to be back",
        () ->
            ids.stream().mapToLong(id -> Long.parseLong(lab.redis().get(RedisKeys.stock(id)))).sum()
                == 1_000);
    Signals.await(
        "the shards to take it back", () -> ids.stream().noneMatch(this::showsNoneElsewhere));
    large.expired();

    List<Long> later =
        large.users(6_000, shard -> shard == 2).stream()
            .filter(user -> user > 1_000)
            .limit(1_000)
            .toList();
    assertThat(ShardedSale.codes(large.buy(lab.shops(), later))).isEqualTo(Map.of("202", 1_000));
    large.judgeSoldOut(lab.admin(), lab.sales());
  }

  /** Redis alone proves it; nothing can move meanwhile. */
  @Test
  void soldOutStaysTheAnswerWhileMySqlIsAway() throws SQLException {
    sale.open(lab.admin());
    List<Long> users = sale.users(SHOPPERS + 1, shard -> true);
    assertSoldOut(sale.buy(lab.shops(), users.subList(0, SHOPPERS)));
    Signals.await(
        "shards to show that none is left",
        () -> Shards.ids(sku, SHARDS).stream().allMatch(this::showsNoneElsewhere));

    lab.servers().mysql().kill();
    await("refusals for longer than a proof counts")
        .during(Duration.ofSeconds(5))
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> lab.shops().get(0).buy(users.get(SHOPPERS), sku, 1, "too-late-0001").code(),
            "SOLD_OUT"::equals);
    lab.servers().mysql().restart();
  }

  private boolean showsNoneElsewhere(long shard) {
    return lab.redis().hget(RedisKeys.sku(shard), "elsewhere").startsWith("0:");
  }

  /** Redis takes no purchase, and gateways cannot ask for units; what moves arrives. */
  @Test
  void redisIsFullInTheMiddleOfAMove() throws SQLException {
    sale.open(lab.admin());
    Fault full = Fault.of(lab, "Redis", "memory full");
    List<CompletableFuture<Answer>> answers =
        buyUntilAMoverIsAt(Failpoints.MOVE_TAKEN, sale.users(SHOPPERS, shard -> shard == 2));
    BooleanSupplier refuses = full.begin().get();
    release(Failpoints.MOVE_TAKEN);
    Signals.await("Redis to refuse writes", refuses::getAsBoolean);
    Signals.await(
        "the move to end",
        () ->
            lab.database()
                    .number(
                        "SELECT COUNT(*) FROM stock_change WHERE state NOT IN ('DONE', 'REFUSED')")
                == 0);
    full.end().run();

    assertSoldOut(answers);
  }

  /**
   * Units are added and withdrawn, and the sale is paused and resumed, while units move and sell.
   */
  @Test
  void stockChangesAndPausesWhileUnitsMove() throws SQLException {
    sale.open(lab.admin());
    long units = STOCK;
    List<CompletableFuture<Answer>> answers = new ArrayList<>();
    for (int round = 0; round < 5; round++) {
      int first = round * 60;
      answers.addAll(
          sale.buy(
              lab.shops(), sale.users(first + 60, shard -> shard == 2).subList(first, first + 60)));
      for (long delta : new long[] {30, -40}) {
        units += changed(delta, "change" + delta + "-" + round).equals("DONE") ? delta : 0;
      }
      Signals.await("a pause", () -> lab.admin().pause(sku).status() == 200);
      Signals.await("a resume", () -> lab.admin().resume(sku).status() == 200);
    }
    Map<String, Integer> codes = ShardedSale.codes(answers);

    long sold = sale.judge(lab.admin(), lab.sales(), units);
    assertThat(sold).as("units sold; answers %s", codes).isEqualTo(codes.get("202").longValue());
    assertThat(codes.keySet()).isSubsetOf("202", "PAUSED", "SOLD_OUT");
  }

  /** State of a change; one that waits, for units that move or for Redis, has none yet. */
  private String changed(long delta, String id) {
    return eventually("the outcome of " + id)
        .ignoreExceptions()
        .until(
            () -> lab.admin().changeStock(sku, delta, id).text("state"),
            state -> state.equals("DONE") || state.equals("REFUSED"));
  }

  /**
   * One shard is lost in the middle of a move, the giver or the taker. The others sell on, also
   * while it is rebuilt; then the move is finished.
   */
  @ParameterizedTest
  @CsvSource({
    Failpoints.MOVE_TAKEN + ", true",
    Failpoints.MOVE_TAKEN + ", false",
    Failpoints.MOVE_POOLED + ", true",
    Failpoints.MOVE_GIVEN + ", true",
    Failpoints.MOVE_GIVEN + ", false"
  })
  void aShardIsLostInTheMiddleOfAMoveAndRebuilt(String point, boolean isGiver) throws SQLException {
    sale.open(lab.admin());
    List<Long> users =
        sale.users(520, shard -> true).stream() // the others sell, too, and keep some
            .filter(user -> Shards.of(user, SHARDS) == 2 || user % 3 == 0)
            .toList();
    List<CompletableFuture<Answer>> answers = buyUntilAMoverIsAt(point, users);
    long taker = Shards.id(sku, 2);
    List<Long> givers =
        Shards.ids(sku, SHARDS).stream()
            .filter(shard -> shard != taker && lab.redis().exists(RedisKeys.stockChanges(shard)))
            .toList();
    assertThat(givers).isNotEmpty();
    long lost = isGiver ? givers.get(0) : taker;
    long epoch = lab.sales().epoch(lost);
    Signals.await(
        "MySQL to have its orders",
        () -> lab.sales().settledOrders(lost) == lab.sales().admissionSeq(lost));
    lab.redis().del(keys(lost));

    assertOthersSell(lost, 200);
    CompletableFuture<Answer> rebuild =
        CompletableFuture.supplyAsync(() -> lab.admin().reconcile(sku));
    assertOthersSell(lost, 204);
    assertThat(rebuild.orTimeout(3, TimeUnit.MINUTES).join().text("outcome")).isEqualTo("REBUILT");
    assertThat(lab.sales().epoch(lost)).isGreaterThan(epoch);
    release(point);

    assertThat(ShardedSale.codes(answers)).isEqualTo(Map.of("202", users.size()));
    int left = STOCK - users.size() - 8;
    List<Long> later = sale.users(600, shard -> shard == 2).subList(200, 600);
    assertThat(ShardedSale.codes(sale.buy(lab.shops(), later)))
        .isEqualTo(Map.of("202", left, "SOLD_OUT", 400 - left));
    assertThat(sale.judgeRebuilt(lab.admin(), lab.sales(), STOCK)).isEqualTo(STOCK);
  }

  private List<CompletableFuture<Answer>> buyUntilAMoverIsAt(String point, List<Long> users) {
    lab.consumers().forEach(consumer -> consumer.agent().arm(point, PointAction.PAUSE, 1));
    List<CompletableFuture<Answer>> answers = sale.buy(lab.shops(), users);
    Signals.await("a mover in the middle of a move", () -> at(point).isPresent());
    ServiceInstance frozen = at(point).orElseThrow();
    lab.consumers().stream()
        .filter(one -> one != frozen)
        .forEach(one -> one.agent().release(point)); // it leads when the lock has been silent
    return answers;
  }

  private void release(String point) {
    lab.consumers().forEach(consumer -> consumer.agent().release(point));
  }

  private Optional<ServiceInstance> at(String point) {
    return lab.consumers().stream().filter(one -> one.agent().hasReached(point)).findFirst();
  }

  private String[] keys(long shard) {
    int buckets = Integer.parseInt(lab.redis().hget(RedisKeys.sku(shard), "bucketCount"));
    return Stream.concat(
            Stream.of(RedisKeys.sku(shard), RedisKeys.stock(shard), RedisKeys.stockChanges(shard)),
            IntStream.range(0, buckets).mapToObj(bucket -> RedisKeys.bucket(shard, bucket)))
        .toArray(String[]::new);
  }

  /** Four shoppers of a shard that has lost nothing. */
  private void assertOthersSell(long lost, int before) {
    int other = Shards.shard(lost) == 3 ? 1 : 3;
    List<Long> users = sale.users(before + 4, shard -> shard == other).subList(before, before + 4);
    assertThat(ShardedSale.codes(sale.buy(lab.shops(), users))).isEqualTo(Map.of("202", 4));
  }

  /** A pause stops every shard, and a half move is finished while the sale is paused. */
  @ParameterizedTest
  @ValueSource(strings = {Failpoints.MOVE_TAKEN, Failpoints.MOVE_POOLED, Failpoints.MOVE_GIVEN})
  void theSaleIsPausedAndItsStockChangedInTheMiddleOfAMove(String point) throws SQLException {
    sale.open(lab.admin());
    List<CompletableFuture<Answer>> answers =
        buyUntilAMoverIsAt(point, sale.users(SHOPPERS, shard -> shard == 2));
    assertThat(changed(30, "added-" + point)).isEqualTo("DONE");
    assertThat(changed(-10, "withdrawn-" + point)).isEqualTo("DONE");
    Signals.await("a pause", () -> lab.admin().pause(sku).status() == 200);
    List<Long> others = sale.users(40, shard -> shard != 2);
    assertThat(ShardedSale.codes(sale.buy(lab.shops(), others))).isEqualTo(Map.of("PAUSED", 40));
    release(point);
    int sold = ShardedSale.codes(answers).getOrDefault("202", 0);
    assertThat(sale.judge(lab.admin(), lab.sales(), STOCK + 20)).isEqualTo(sold);

    Signals.await("a resume", () -> lab.admin().resume(sku).status() == 200);
    List<Long> later =
        sale.users(2 * SHOPPERS, shard -> shard == 2).subList(SHOPPERS, 2 * SHOPPERS);
    Map<String, Integer> codes = ShardedSale.codes(sale.buy(lab.shops(), later));
    int left = STOCK + 20 - sold; // 0 if a slow pause came after the last unit
    assertThat(codes.getOrDefault("202", 0)).isEqualTo(left);
    assertThat(codes.get("SOLD_OUT")).isEqualTo(SHOPPERS - left);
    assertThat(sale.judge(lab.admin(), lab.sales(), STOCK + 20)).isEqualTo(STOCK + 20);
  }

  /**
   * A unit is sold to everyone who asks while one is left: nobody is refused before all of 1,000
   * are admitted, whether the shoppers are in all of 16 shards, in two, or in one.
   */
  @ParameterizedTest
  @ValueSource(ints = {16, 2, 1})
  void everyUnitIsSoldBeforeAnybodyIsRefused(int used) throws SQLException {
    ShardedSale large = new ShardedSale(sku, 16, 1_000);
    large.open(lab.admin());

    List<Long> users =
        large.users(4_000, shard -> shard < used).stream()
            .filter(user -> user % 2 == 0)
            .limit(1_500)
            .toList();
    Map<String, Integer> codes = ShardedSale.codes(large.buy(lab.shops(), users));

    assertThat(codes).isEqualTo(Map.of("202", 1_000, "SOLD_OUT", 500));
    large.judgeSoldOut(lab.admin(), lab.sales());
  }

  private void assertSoldOut(List<CompletableFuture<Answer>> answers) throws SQLException {
    assertThat(ShardedSale.codes(answers))
        .isEqualTo(Map.of("202", STOCK, "SOLD_OUT", SHOPPERS - STOCK));
    sale.judgeSoldOut(lab.admin(), lab.sales());
  }
}
