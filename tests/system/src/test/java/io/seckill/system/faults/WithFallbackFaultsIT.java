package io.seckill.system.faults;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.LedgerBalances;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.Answer;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import tools.jackson.databind.JsonNode;

/** MySQL decides the sales of Redis for a while: what Redis had promised is kept. */
@Tag("proof")
@OnChannel(fallback = "automatic")
@ExtendWith({TestServers.class, FaultLabExtension.class})
class WithFallbackFaultsIT {

  private static final Duration ENTERED_WITHIN = Duration.ofSeconds(5);

  /** At twenty latecomers a second, half a minute of them with {@code --proof}. */
  private static final int CONFIRMED = 150;

  private static final int CUT_FOR_MS = 4_000;
  private static final String RESERVED =
      "SELECT SUM(reserved_units) FROM products WHERE fallback <> 'NO'";
  private static final String FREE =
      "SELECT SUM(stock - reserved_units) FROM products WHERE fallback <> 'NO'";

  /** A silent gateway is removed after 35 s, which a slow machine may need for the rest. */
  private static final String STAYS_REGISTERED =
      "UPDATE gateway_node SET heard_at = GREATEST(heard_at, NOW(6) - INTERVAL 20 SECOND)";

  private final FaultLab lab;

  WithFallbackFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  @Test
  @DisplayName("73: Redis killed, back with all its data")
  void redisBackWithAllItsData() throws SQLException {
    try (FaultRun run = run("73 fallback, Redis back with all")) {
      goesOnInMySql(run, () -> lab.servers().redis().restart(), "all its data");
    }
  }

  @Test
  @DisplayName("73: Redis killed, back with some of its data")
  void redisBackWithSomeOfItsData() throws SQLException, IOException {
    try (FaultRun run = run("73 fallback, Redis back with some");
        SavedFolder older = SavedFolder.ofRedis(lab.redis())) {
      goesOnInMySql(
          run,
          () -> {
            older.restore();
            lab.servers().redis().restart();
          },
          "some of its data");
    }
  }

  @Test
  @DisplayName("73: Redis killed, back with none of its data")
  void redisBackWithNoneOfItsData() throws SQLException {
    RedisServer redis = lab.servers().redis();
    try (FaultRun run = run("73 fallback, Redis back with none")) {
      goesOnInMySql(
          run,
          () -> {
            redis.wipe();
            redis.restart();
          },
          "none of its data");
    }
  }

  /** The other one uses Redis again, which would sell what the frozen one has promised. */
  @Test
  @DisplayName("73: a gateway frozen, Redis killed and back with none of its data")
  void redisBackBeforeAGatewayHasTransferred() {
    RedisServer redis = lab.servers().redis();
    try (FaultRun run = run("73 fallback, a gateway frozen")) {
      lab.relays().forEach(relay -> relay.links().redis().cut());
      run.load().awaitAccepted(run.load().accepted() + 200);
      awaitRedisDecides();
      assertSoldAtTheOther(run);
      lab.gateway(2).freeze();
      Set<String> promised = run.acceptedOrders();
      redis.kill();
      Signals.await("MySQL to decide", () -> state("MYSQL"));
      Set<String> waiting = without(promised, stored(run));
      assertThat(waiting).as("orders that the frozen gateway alone remembers").isNotEmpty();
      redis.wipe();
      redis.restart();
      Signals.await("the other gateway to have used Redis for long enough", this::isUsableAgain);
      assertThat(state()).as("until the frozen gateway has transferred").isEqualTo("MYSQL");
      lab.gateway(2).thaw();
      lab.heal();
      awaitReturned(run);
      assertThat(stored(run)).as("orders of MySQL").containsAll(promised);
      run.fault("Redis lost while a frozen gateway alone had " + waiting.size() + " orders");
      judge(run);
    }
  }

  /** For a second more than a return needs. The frozen one stays registered meanwhile. */
  private boolean isUsableAgain() {
    lab.database().execute(STAYS_REGISTERED);
    return nodes().stream()
        .anyMatch(
            node ->
                !isUnusable(node)
                    && node.path("heardMsAgo").asLong() < 2_000
                    && node.path("forMs").asLong() > 11_000);
  }

  /** Of two gateways that are ready again, one does not answer HAProxy's checks any more. */
  @Test
  @DisplayName("73: Redis killed and then a gateway frozen, behind HAProxy")
  void behindHaProxy() throws Exception {
    try (HaProxy proxy = HaProxy.before(lab);
        FaultRun run = run("73 fallback behind HAProxy")) {
      SaleOffer sale = lab.newSale();
      Signals.await("a purchase through HAProxy", () -> proxy.buy(sale).status() == 202);
      Signals.await(
          "purchases to be UP in the health",
          () -> proxy.health().json().at("/components/admission/status").asString().equals("UP"));
      lab.servers().redis().kill();
      Signals.await("MySQL to confirm through HAProxy", () -> proxy.buy(sale).status() == 201);
      Signals.await(
          "gateways to be ready", () -> lab.gateways().stream().allMatch(ServiceInstance::isReady));
      Signals.awaitThat(
          "the health to name who decides",
          () -> {
            Answer health = proxy.health();
            assertThat(health.status()).as("%s", health).isEqualTo(200);
            assertThat(health.text("status")).isEqualTo("DEGRADED");
            assertThat(health.json().at("/components/admission/reason").asString())
                .contains("MySQL decides");
          });
      lab.gateway(2).freeze();
      Signals.await(
          "HAProxy to leave the frozen gateway out",
          () -> proxy.notFromAGateway(sale, 60).isEmpty());
      Signals.await("the other gateway to sell", () -> proxy.buy(sale).status() == 201);
      run.fault("Redis killed and gateway-2 frozen behind HAProxy");
      lab.gateway(2).thaw();
      lab.servers().redis().restart();
      lab.heal();
      awaitReturned(run);
      lab.admin().close(sale.skuId());
      judge(run);
    }
  }

  /** Relays are cut off before, so that Redis alone has what it promised last. */
  private void goesOnInMySql(FaultRun run, Runnable back, String with) throws SQLException {
    lab.relays().forEach(relay -> relay.links().redis().cut());
    run.load().awaitAccepted(run.load().accepted() + 200);
    awaitRedisDecides();
    Set<String> waiting = // after that: a fallback stores them
        eventually("orders that Redis alone has")
            .until(() -> without(run.acceptedOrders(), stored(run)), orders -> !orders.isEmpty());
    int before = run.load().confirmed();
    lab.servers().redis().kill();
    long killed = System.nanoTime();
    Set<String> promised = run.acceptedOrders();
    Signals.await("a purchase confirmed by MySQL", () -> run.load().confirmed() > before);
    run.took("MySQL confirms a purchase", killed, ENTERED_WITHIN);
    assertThat(stored(run)).as("orders of MySQL").containsAll(promised);
    run.fault("Redis killed with " + waiting.size() + " orders that it alone had");
    awaitConfirmed(run, CONFIRMED);
    back.run();
    lab.heal();
    awaitReturned(run);
    run.fault("Redis back with " + with);
    judge(run);
  }

  @Test
  @DisplayName("74: one gateway cut off from Redis, from MySQL, from both: no fallback")
  void oneGatewayCutOff() {
    try (FaultRun run = run("74 one gateway cut off")) {
      int fallbacks = 0;
      while (!sellsOnWithoutFallback(run)) { // as often as the machine stalls meanwhile
        fallbacks++;
        assertThat(fallbacks).as("fallbacks while one gateway was cut off").isLessThan(5);
        awaitRedisDecides();
      }
      judge(run);
    }
  }

  /** Returns whether Redis decided all the time: gateway-2 may lose it, too, for a second. */
  private boolean sellsOnWithoutFallback(FaultRun run) {
    Answer before = fallback();
    TcpProxy redis = lab.gateway(1).links().redis();
    TcpProxy mysql = lab.gateway(1).links().mysql();
    redis.cut();
    awaitUnusable(CUT_FOR_MS);
    assertSoldAtTheOther(run);
    run.fault("gateway-1 cut off from Redis");
    mysql.cut();
    assertStopsAndTheOtherSells(run);
    run.fault("gateway-1 cut off from both");
    redis.heal();
    assertStopsAndTheOtherSells(run);
    run.fault("gateway-1 cut off from MySQL");
    Answer after = fallback();
    mysql.heal();
    int sold = run.load().acceptedAt(0);
    Signals.await("gateway-1 to sell again", () -> run.load().acceptedAt(0) > sold);
    return before.text("state").equals("REDIS") && term(before) == term(after);
  }

  /** Raised whenever a fallback begins. */
  private static long term(Answer fallback) {
    return fallback.json().required("term").asLong();
  }

  /** As gateway-2's order-consumer says of gateway-1: each has the other from MySQL. */
  private void awaitUnusable(long forMs) {
    Signals.await(
        "gateways to know that one of them has lost Redis",
        () ->
            nodes().stream()
                    .anyMatch(node -> isUnusable(node) && node.path("forMs").asLong() > forMs)
                && nodes().stream().anyMatch(node -> !isUnusable(node)));
  }

  private static boolean isUnusable(JsonNode node) {
    return node.path("redis").asString("").equals("UNUSABLE");
  }

  private void assertSoldAtTheOther(FaultRun run) {
    int sold = run.load().acceptedAt(1);
    Signals.await("gateway-2 to sell on", () -> run.load().acceptedAt(1) > sold + 20);
  }

  private void assertStopsAndTheOtherSells(FaultRun run) {
    Signals.await(
        "gateway-1 to promise nothing",
        () -> {
          int before = run.load().acceptedAt(0);
          assertSoldAtTheOther(run);
          return run.load().acceptedAt(0) == before;
        });
  }

  @Test
  @DisplayName("75: a gateway dies with Redis: everything unsold is reserved")
  void gatewayDiesWithRedis() {
    try (FaultRun run = run("75 fallback, a gateway dies with Redis")) {
      lab.relays().forEach(relay -> relay.links().redis().cut());
      run.load().awaitAccepted(run.load().accepted() + 200);
      awaitRedisDecides();
      Set<String> before = run.acceptedOrders();
      run.load().expectLoss(); // only Redis has the keys of what gateway-1 promised last
      lab.gateway(1).kill();
      lab.servers().redis().kill();
      Signals.await("MySQL to decide", () -> state("MYSQL"));
      int busy = run.load().problems("BUSY");
      run.load().awaitProblems("BUSY", busy + 50);
      // Redis never had the units in the pool of the SKU in shards: MySQL may sell those.
      List<SaleOffer> withoutPool =
          run.sales().stream().filter(sale -> sale.shards() == 1).toList();
      assertThat(withoutPool)
          .isNotEmpty()
          .allSatisfy(
              sale -> {
                assertThat(without(run.acceptedOrders(sale), before))
                    .noneMatch(order -> OrderId.parse(order).isDecidedByMySql());
                assertThat(lab.database().number(FREE + " AND sku_id = " + sale.skuId()))
                    .as("units not reserved")
                    .isZero();
              });
      assertThat(lab.database().number(RESERVED)).as("units reserved").isPositive();
      run.fault("gateway-1 and Redis killed at once");
      lab.servers().redis().restart();
      lab.heal();
      awaitReturned(run);
      judge(run);
    }
  }

  @Test
  @DisplayName("76: an operator begins and ends it twice, while Redis works")
  void enteredTwice() {
    try (FaultRun run = run("76 fallback entered twice")) {
      for (int time = 1; time <= 2; time++) {
        Signals.await("the fallback", () -> lab.admin().enterFallback().status() == 200);
        awaitConfirmed(run, 100);
        Signals.await( // refused while a gateway, or order-consumer, waits for Redis
            "the return", () -> lab.admin().leaveFallback().status() == 200);
        awaitReturned(run);
        run.fault("entered and left, " + time);
      }
      judge(run);
    }
  }

  /** Of a gateway that died in the test before it is still unknown what it promised. */
  private FaultRun run(String row) {
    Signals.await("no gateway but the running ones", () -> nodes().size() == 2);
    return lab.longRunWithShards(row).begin(300);
  }

  private void awaitConfirmed(FaultRun run, int purchases) {
    int before = run.load().confirmed();
    Signals.await(
        purchases + " purchases confirmed by MySQL",
        () -> run.load().confirmed() >= before + purchases);
    Signals.await(
        "purchases of the SKU in shards confirmed by MySQL",
        () ->
            run.acceptedOrders(run.sale(0)).stream()
                .anyMatch(order -> OrderId.parse(order).isDecidedByMySql()));
  }

  /** A machine that stalls for seconds may begin a fallback before the fault. */
  private void awaitRedisDecides() {
    Signals.await("Redis to decide", () -> state("REDIS"));
  }

  private void awaitReturned(FaultRun run) {
    awaitRedisDecides();
    int before = run.load().queued();
    Signals.await("purchases accepted by Redis", () -> run.load().queued() > before + 20);
  }

  private void judge(FaultRun run) {
    run.judge(Guarantee.afterFallback(), List.of(new LedgerBalances(lab.admin())));
    run.sales().forEach(sale -> lab.admin().close(sale.skuId())); // later fallbacks leave it out
  }

  private boolean state(String wanted) {
    return state().equals(wanted);
  }

  private String state() {
    return fallback().text("state");
  }

  private List<JsonNode> nodes() {
    return StreamSupport.stream(fallback().json().path("gateways").spliterator(), false).toList();
  }

  /** Asks a gateway that runs. */
  private Answer fallback() {
    return lab.gateway(1).isAlive() ? lab.admin().fallback() : lab.admin(2).fallback();
  }

  private static Set<String> without(Set<String> orders, Set<String> others) {
    return orders.stream().filter(order -> !others.contains(order)).collect(Collectors.toSet());
  }

  private Set<String> stored(FaultRun run) {
    String skus =
        run.sales().stream()
            .flatMap(sale -> sale.inRedis().stream())
            .map(String::valueOf)
            .collect(Collectors.joining(","));
    String sql = "SELECT order_id FROM orders WHERE sku_id IN (" + skus + ")";
    return new HashSet<>(lab.database().rows(sql, row -> row.getString(1)));
  }
}
