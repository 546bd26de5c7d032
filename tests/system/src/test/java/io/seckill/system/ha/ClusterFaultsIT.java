package io.seckill.system.ha;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.system.ShardedSale;
import io.seckill.system.agent.inside.PointAction;
import io.seckill.system.faults.Failpoints;
import io.seckill.system.faults.FaultRun;
import io.seckill.system.faults.OnChannel;
import io.seckill.system.faults.Signals;
import io.seckill.system.guarantee.Explained;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.Answer;
import io.seckill.testing.Bounded;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClusterFailoverOption;

/** Faults of a Redis Cluster of three primaries, each with a replica. */
@OnChannel(durableIn = "broker")
@Tag("proof")
@ExtendWith({TestServers.class, ClusterLab.Extension.class})
class ClusterFaultsIT {

  private static final long SHARDED = 282_001;
  private static final int SHARDS = 4;
  private static final int STOCK = 400;

  private static final String VALIDITY = "cluster-replica-validity-factor";
  private static final Duration PROMISED = Duration.ofSeconds(10);

  private final ClusterLab lab;
  private final RedisCluster redis;
  private final Map<RedisServer, String> validities = new HashMap<>();

  ClusterFaultsIT(ClusterLab lab) {
    this.lab = lab;
    this.redis = lab.redisServers();
  }

  @AfterEach
  void replicasMayBeTooOldAgain() {
    validities.forEach((node, factor) -> set(node, VALIDITY, factor));
  }

  private FaultRun run(String row) {
    return lab.run(row, 3_000, Duration.ofSeconds(15));
  }

  @Test
  @DisplayName("49: primary of a Redis Cluster killed, other partitions sell on")
  void primaryKilled() {
    try (FaultRun run = run("49 Redis Cluster primary killed").begin(300)) {
      RedisServer primary = primaryOf(run.sale(0));
      List<SaleOffer> hit = salesOn(run, primary, true);
      List<SaleOffer> others = salesOn(run, primary, false);
      assertThat(others).as("sales on other primaries").isNotEmpty();
      long since = System.nanoTime();
      try (NoFailover held = new NoFailover(run.sale(0).skuId())) {
        primary.kill();
        int before = accepted(run, others);
        Signals.await("the others to sell on", () -> accepted(run, others) > before + 20);
        held.assertPrimaryIs(primary);
      }
      Signals.await("a replica to be promoted", () -> !primaryOf(run.sale(0)).equals(primary));
      int then = accepted(run, hit);
      Signals.await("admission to be back", () -> accepted(run, hit) > then + 20);
      run.took("admission is back", since, PROMISED);
      run.fault("a primary of the Redis Cluster killed");
      run.judge(Explained.REDIS_AWAY);
    }
  }

  @Test
  @DisplayName("50: slot of a Redis Cluster moved during a sale")
  void slotMoved() {
    try (FaultRun run = run("50 Redis Cluster slot moved").begin(300)) {
      SaleOffer sale = run.sale(0);
      RedisServer from = primaryOf(sale);
      RedisServer to =
          run.sales().stream()
              .map(this::primaryOf)
              .filter(node -> !node.equals(from))
              .findFirst()
              .orElseThrow();
      for (RedisServer next : List.of(to, from)) { // its keys move in another order each time
        redis.moveSlot(RedisKeys.stock(sale.skuId()), next);
        assertThat(primaryOf(sale)).as("the new owner of the slot").isEqualTo(next);
        int before = accepted(run, List.of(sale));
        Signals.await("its sale to go on", () -> accepted(run, List.of(sale)) > before + 20);
      }
      run.fault("the slot of a sale moved to another primary and back");
      run.judge();
    }
  }

  /**
   * The shoppers of the other shards notice nothing, and nobody is refused while units are left.
   */
  @Test
  void aDeadPrimaryStopsItsOwnShardsAlone() throws SQLException {
    ShardedSale sale = new ShardedSale(SHARDED, SHARDS, STOCK);
    sale.open(lab.admin());
    RedisServer primary = primaryOf(Shards.id(SHARDED, 0));
    Set<Integer> dead =
        IntStream.range(0, SHARDS)
            .filter(shard -> primaryOf(Shards.id(SHARDED, shard)).equals(primary))
            .boxed()
            .collect(Collectors.toSet());
    assertThat(dead).hasSizeLessThan(SHARDS);
    List<Long> before = sale.users(100, shard -> true); // compiles what has just started
    assertThat(ShardedSale.codes(sale.buy(lab.shops(), before))).containsOnlyKeys("202");
    List<Long> others = sale.users(160, shard -> !dead.contains((int) shard)).subList(100, 160);
    List<Long> hit = sale.users(120, shard -> dead.contains((int) shard)).subList(100, 120);
    try (NoFailover held = new NoFailover(Shards.id(SHARDED, 0))) {
      primary.kill();
      List<Answer> served = answers(sale.buy(lab.shops(), others)); // a busy gateway answers 503
      List<Answer> notServed = answers(sale.buyOnce(lab.shops(), hit));
      held.assertPrimaryIs(primary);
      assertThat(served).extracting(ClusterFaultsIT::text).containsOnly("202");
      assertThat(notServed).extracting(Answer::status).containsOnly(503);
    }

    List<Long> later =
        sale.users(3 * STOCK, shard -> true).stream()
            .filter(user -> !before.contains(user) && !others.contains(user))
            .limit(STOCK)
            .toList();
    int sold = before.size() + others.size();
    assertThat(ShardedSale.codes(sale.buy(lab.shops(), later)))
        .isEqualTo(Map.of("202", STOCK - sold, "SOLD_OUT", sold));
    sale.judgeSoldOut(lab.admin(), lab.sales());
  }

  /** The shard that needs units is on it, and gets them when the replica has taken over. */
  @Test
  void thePrimaryThatUnitsMoveToIsKilled() throws SQLException {
    long sku = SHARDED + 5;
    ShardedSale sale = new ShardedSale(sku, SHARDS, STOCK);
    awaitVerified();
    sale.open(lab.admin());
    long taker = Shards.id(sku, 2);
    RedisServer primary = primaryOf(taker);
    lab.consumers().forEach(one -> one.agent().arm(Failpoints.MOVE_GIVEN, PointAction.PAUSE, 1));
    List<CompletableFuture<Answer>> answers =
        sale.buy(lab.shops(), sale.users(STOCK + 100, shard -> shard == 2));
    Signals.await(
        "units on their way",
        () ->
            lab.consumers().stream().anyMatch(one -> one.agent().hasReached(Failpoints.MOVE_GIVEN))
                && stocks(List.of(taker)) == 0);
    primary.kill();

    lab.consumers().forEach(one -> one.agent().release(Failpoints.MOVE_GIVEN));

    assertThat(ShardedSale.codes(answers)).isEqualTo(Map.of("202", STOCK, "SOLD_OUT", 100));
    sale.judgeSoldOut(lab.admin(), lab.sales());
  }

  /** Purchases and moves are answered MOVED, ASK or TRYAGAIN meanwhile. */
  @Test
  void theSlotOfAShardMovesWhileItSellsAndUnitsMove() throws SQLException {
    long sku = SHARDED + 6;
    ShardedSale sale = new ShardedSale(sku, SHARDS, STOCK);
    awaitVerified();
    sale.open(lab.admin());
    long taker = Shards.id(sku, 2);
    RedisServer from = primaryOf(taker);
    RedisServer to =
        Shards.ids(sku, SHARDS).stream()
            .map(this::primaryOf)
            .filter(node -> !node.equals(from))
            .findFirst()
            .orElseThrow();
    List<CompletableFuture<Answer>> answers =
        sale.buy(lab.shops(), sale.users(STOCK + 100, shard -> shard == 2));
    Signals.await("units to move", () -> lab.redis().exists(RedisKeys.stockChanges(taker)));
    redis.moveSlot(RedisKeys.stock(taker), to);
    assertThat(primaryOf(taker)).as("the new owner of the slot").isEqualTo(to);

    assertThat(ShardedSale.codes(answers)).isEqualTo(Map.of("202", STOCK, "SOLD_OUT", 100));
    sale.judgeSoldOut(lab.admin(), lab.sales());
  }

  /** Also a shard that cannot be reached: it does not sell when its replica has taken over. */
  @Test
  void aPauseStopsEveryShardWhileAPrimaryIsDead() {
    long sku = SHARDED + 1;
    ShardedSale sale = new ShardedSale(sku, SHARDS, STOCK);
    awaitVerified();
    sale.open(lab.admin());
    RedisServer primary = primaryOf(Shards.id(sku, 0));
    List<Long> hit =
        sale.users(40, shard -> primaryOf(Shards.id(sku, (int) shard)).equals(primary));
    List<Long> others =
        sale.users(40, shard -> !primaryOf(Shards.id(sku, (int) shard)).equals(primary));
    try (NoFailover held = new NoFailover(Shards.id(sku, 0))) {
      primary.kill();

      assertThat(lab.admin().pause(sku).status()).isEqualTo(202);

      List<Answer> served = answers(sale.buy(lab.shops(), others));
      held.assertPrimaryIs(primary);
      assertThat(served).extracting(ClusterFaultsIT::text).containsOnly("PAUSED");
    }
    assertThat(ShardedSale.codes(sale.buy(lab.shops(), hit))).containsOnlyKeys("PAUSED");
    Signals.await("a resume", () -> lab.admin().resume(sku).status() == 200);
    awaitSold(sku, hit);
  }

  /** The shards of the dead primary open when its replica has taken over. */
  @Test
  void aResumeOpensTheOtherShardsWhileAPrimaryIsDead() {
    long sku = SHARDED + 4;
    ShardedSale sale = new ShardedSale(sku, SHARDS, STOCK);
    awaitVerified();
    sale.open(lab.admin());
    Signals.await("a pause", () -> lab.admin().pause(sku).status() == 200);
    RedisServer primary = primaryOf(Shards.id(sku, 0));
    List<Long> hit = sale.users(4, shard -> primaryOf(Shards.id(sku, (int) shard)).equals(primary));
    List<Long> others =
        sale.users(40, shard -> !primaryOf(Shards.id(sku, (int) shard)).equals(primary));
    try (NoFailover held = new NoFailover(Shards.id(sku, 0))) {
      primary.kill();

      Signals.await("a resume", () -> lab.admin().resume(sku).status() == 200);

      List<Answer> served = answers(sale.buy(lab.shops(), others));
      held.assertPrimaryIs(primary);
      assertThat(served).extracting(ClusterFaultsIT::text).containsOnly("202");
    }
    awaitSold(sku, hit);
  }

  /** A shard that did not answer the resume opens as soon as it answers order-consumer again. */
  private void awaitSold(long sku, List<Long> users) {
    for (long user : users) {
      Signals.await(
          "a shopper of the dead primary to buy",
          () -> lab.shops().get(0).buy(user, sku, 1, "after-a-resume").status() == 202);
    }
  }

  /** An operator's mistake: FLUSHALL, so that its replica is empty, too. */
  @Test
  void anEmptyPrimaryIsRebuiltWhileTheOtherShardsSell() throws SQLException {
    losesShards(SHARDED + 2, replica -> {}, (primary, replica) -> call(primary, Jedis::flushAll));
  }

  /** Its replica was down when it sold, and is promoted by force. */
  @Test
  void anOlderReplicaIsPromotedUnderAShard() throws SQLException {
    losesShards(
        SHARDED + 3,
        RedisServer::kill,
        (primary, replica) -> {
          primary.kill();
          replica.restart();
          Signals.await(
              "the replica to take over",
              () -> {
                call(replica, jedis -> jedis.clusterFailover(ClusterFailoverOption.TAKEOVER));
                return true;
              });
        });
  }

  /**
   * The shards on one primary lose orders that MySQL has. The others sell what they have; then
   * their shoppers wait, and get nothing of the lost shards' units before these are rebuilt.
   */
  private void losesShards(
      long sku, Consumer<RedisServer> before, BiConsumer<RedisServer, RedisServer> loss)
      throws SQLException {
    ShardedSale sale = new ShardedSale(sku, SHARDS, STOCK);
    awaitVerified();
    sale.open(lab.admin());
    String key = RedisKeys.stock(Shards.id(sku, 0));
    RedisServer primary = redis.primaryOf(key);
    RedisServer replica = redis.replicaOf(key);
    List<Long> lost =
        Shards.ids(sku, SHARDS).stream().filter(id -> primaryOf(id).equals(primary)).toList();
    List<Long> others = Shards.ids(sku, SHARDS).stream().filter(id -> !lost.contains(id)).toList();
    assertThat(others).isNotEmpty();
    before.accept(replica);
    List<Long> first = sale.users(100, shard -> true);
    assertThat(ShardedSale.codes(sale.buy(lab.shops(), first))).isEqualTo(Map.of("202", 100));
    Signals.await("MySQL to have them", () -> sum("settled", lost) == seqs(lost));
    Map<Long, Long> epochs =
        lost.stream().collect(Collectors.toMap(id -> id, id -> lab.sales().epoch(id)));
    long given = sum("initial_stock", lost);
    double quarantined = quarantined();

    loss.accept(primary, replica);
    Signals.await("gateways to leave them out", () -> quarantined() > quarantined);
    List<Long> hit =
        sale.users(120, shard -> lost.contains(Shards.id(sku, (int) shard))).subList(100, 120);
    assertThat(answers(sale.buyOnce(lab.shops(), hit)))
        .extracting(Answer::status)
        .containsOnly(503);
    List<Long> later =
        sale.users(2 * STOCK, shard -> !lost.contains(Shards.id(sku, (int) shard))).stream()
            .filter(user -> !first.contains(user))
            .limit(STOCK)
            .toList();
    List<CompletableFuture<Answer>> waiting = sale.buy(lab.shops(), later);
    Signals.await("the others to have sold theirs", () -> stocks(others) == 0);
    double busy = busy();
    Signals.await("their shoppers to ask for more", () -> busy() > busy + 500);
    assertThat(waiting.stream().filter(CompletableFuture::isDone).map(Bounded::get))
        .extracting(ClusterFaultsIT::text)
        .containsOnly("202");
    assertThat(sum("initial_stock", lost)).as("units of the lost shards").isEqualTo(given);

    Signals.awaitThat(
        "the rebuild",
        () -> {
          assertThat(lab.admin().reconcile(sku).status()).isEqualTo(200);
          assertThat(epochs)
              .allSatisfy((id, was) -> assertThat(lab.sales().epoch(id)).isGreaterThan(was));
        });
    assertThat(ShardedSale.codes(waiting)).isEqualTo(Map.of("202", STOCK - 100, "SOLD_OUT", 100));
    assertThat(sale.judgeRebuilt(lab.admin(), lab.sales(), STOCK)).isEqualTo(STOCK);
    redis.heal();
    lab.worksAgain().newProbes();
  }

  private void awaitVerified() {
    Signals.await(
        "gateways to know Redis",
        () ->
            lab.gateways().stream()
                .allMatch(gateway -> gateway.sum("seckill_redis_verified") == 1));
  }

  private double quarantined() {
    return lab.gateways().stream()
        .mapToDouble(one -> one.sum("seckill_quarantined_skus"))
        .min()
        .orElse(0);
  }

  private double busy() {
    return lab.gateways().stream()
        .mapToDouble(one -> one.sum("seckill_shard_waits_total", "outcome=\"busy\""))
        .sum();
  }

  private long sum(String column, List<Long> shards) {
    String ids = shards.stream().map(String::valueOf).collect(Collectors.joining(","));
    return lab.database()
        .number("SELECT SUM(" + column + ") FROM products WHERE sku_id IN (" + ids + ")");
  }

  private long seqs(List<Long> shards) {
    return shards.stream().mapToLong(id -> lab.sales().admissionSeq(id)).sum();
  }

  private long stocks(List<Long> shards) {
    return shards.stream()
        .mapToLong(id -> Long.parseLong(lab.redis().get(RedisKeys.stock(id))))
        .sum();
  }

  private static void call(RedisServer node, Consumer<Jedis> call) {
    try (Jedis jedis = new Jedis(node.host(), node.port())) {
      call.accept(jedis);
    }
  }

  private static void set(RedisServer node, String setting, String value) {
    call(node, jedis -> jedis.configSet(setting, value));
  }

  private static String text(Answer answer) {
    return answer.status() == 202 ? "202" : answer.code();
  }

  private static List<Answer> answers(List<CompletableFuture<Answer>> all) {
    return all.stream().map(Bounded::get).toList();
  }

  private RedisServer primaryOf(SaleOffer sale) {
    return primaryOf(sale.skuId());
  }

  private RedisServer primaryOf(long skuId) {
    return redis.primaryOf(RedisKeys.stock(skuId));
  }

  private List<SaleOffer> salesOn(FaultRun run, RedisServer node, boolean wanted) {
    return run.sales().stream().filter(sale -> primaryOf(sale).equals(node) == wanted).toList();
  }

  private static int accepted(FaultRun run, List<SaleOffer> sales) {
    return sales.stream().mapToInt(sale -> run.acceptedOrders(sale).size()).sum();
  }

  /** Until it is closed the replica of a SKU is not promoted, however slow the machine is. */
  private final class NoFailover implements AutoCloseable {

    private static final String HELD = "cluster-replica-no-failover";

    private final long skuId;
    private final RedisServer replica;

    NoFailover(long skuId) {
      this.skuId = skuId;
      this.replica = redis.replicaOf(RedisKeys.stock(skuId));
      set(replica, HELD, "yes");
    }

    void assertPrimaryIs(RedisServer primary) {
      assertThat(primaryOf(skuId)).as("the primary before the failover").isEqualTo(primary);
    }

    /** The replica may be promoted even if it has been without its primary for too long. */
    @Override
    public void close() {
      call(replica, jedis -> validities.put(replica, jedis.configGet(VALIDITY).get(VALIDITY)));
      set(replica, VALIDITY, "0");
      set(replica, HELD, "no");
    }
  }
}
