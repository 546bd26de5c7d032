package io.seckill.consumer.fallback;

import static io.seckill.consumer.fallback.FallbackFixture.admitted;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.common.sale.FallbackMode;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.TestServers;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.UnifiedJedis;

/** A sale, on one consumer for all classes of these tests; afterwards Redis decides it again. */
@ExtendWith(TestServers.class)
abstract class SaleInFallback {

  static final AtomicLong NEXT_SKU = new AtomicLong(31_000);
  static final int GATEWAY = 1;

  static final TestConsumer consumer =
      TestConsumer.shared(
          Map.of(
              "seckill.fallback", "automatic",
              "spring.datasource.hikari.connection-init-sql", TestConsumer.LONG_LOCK_WAITS,
              "seckill.reconciliation.barrier-timeout", "20s",
              "pause.stockChangeSweeper", "1h", // the tests call it themselves
              "pause.fallbackControlSweeper", "50ms",
              "pause.fallbackReturnSweeper", "50ms",
              "pause.fallbackObservationSweeper", "100ms"));

  static final FallbackFixture fallback = new FallbackFixture(consumer);
  static final StoredInvariants ledger = new StoredInvariants(consumer.sql());
  static final OrderFlood broker = new OrderFlood(consumer.vhost());

  final AdmittedSale sale =
      new AdmittedSale(consumer, NEXT_SKU.incrementAndGet(), PurchasePolicy.LIMITED, 5, 20);
  final long sku = sale.sku;
  final String path = "/internal/v1/skus/" + sku;

  @BeforeEach
  void nothingIsReservedForOthers() {
    execute("DELETE FROM gateway_node");
  }

  @AfterEach
  void comeBack() {
    consumer.redis().del(RedisKeys.stockChanges(sku));
    execute("DELETE FROM gateway_node");
    if (!fallback.state().equals("REDIS")) {
      fallback.comeBack();
    }
    ledger.check();
    execute( // over, or a sweep would write that to Redis each second
        "UPDATE products SET state = 'CLOSED', closes_at = NOW(3) WHERE sku_id = " + sku);
    sale.forget(); // or its orders that went nowhere would be expected in the queue
  }

  /** Until it is in one of these states, also where a state soon ends by itself. */
  static void whileBeating(String redis, long forMs, String... states) {
    eventually()
        .pollInterval(Duration.ofMillis(50))
        .untilAsserted(
            () -> {
              fallback.beat(1, 0, redis, forMs);
              fallback.beat(2, 0, redis, forMs);
              assertThat(fallback.state()).isIn((Object[]) states);
            });
  }

  String buyFive(long user) {
    return fallback.buy(sku, user, "key-of-five-" + user, 5).path("outcome").asString();
  }

  Answer stock(String changeId, long delta) {
    return consumer.api().changeStock(sku, changeId, delta);
  }

  static void call(String id, long user, String action) {
    Answer answer =
        consumer
            .api()
            .post("/internal/v1/orders/" + id + "/" + action, "{\"userId\":" + user + "}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
  }

  static void execute(String sql) {
    consumer.update(sql);
  }

  static String ids(OrderMessage... orders) {
    return Arrays.stream(orders)
        .map(order -> order.orderId().toString())
        .collect(Collectors.joining(","));
  }

  /** When a fallback would begin, by a process whose clock differs so much from MySQL's. */
  static String entered(long nextMs, Duration difference) {
    FallbackDatabase mysql = consumer.bean(FallbackDatabase.class);
    FallbackTable table = new FallbackTable(mysql, Clock.offset(Clock.systemUTC(), difference));
    return rolledBack(
        () -> {
          table.lock();
          table.move(SalePhase.REDIS);
          mysql.jdbc().sql("UPDATE order_id_block SET next_ms = ?").param(nextMs).update();
          table.enter("tester");
          String areLater =
              "SELECT b.next_ms >= UNIX_TIMESTAMP(f.entered_at) * 1000"
                  + " FROM order_id_block b JOIN fallback f";
          assertThat(mysql.jdbc().sql(areLater).query(Boolean.class).single())
              .as("the next ids are later")
              .isTrue();
          return mysql
              .jdbc()
              .sql("SELECT CAST(entered_at AS CHAR) FROM fallback")
              .query(String.class)
              .single();
        });
  }

  static <T> T rolledBack(Supplier<T> work) {
    return consumer
        .bean(FallbackDatabase.class)
        .transactions()
        .execute(
            tx -> {
              tx.setRollbackOnly();
              return work.get();
            });
  }

  static long term() {
    return fallback.view().path("term").longValue();
  }

  /** Otherwise each of the service's looks fails, and the last one stays. */
  static void allowLooks(boolean isAllowed) {
    String rule = (isAllowed ? "+" : "-") + "hgetall";
    consumer
        .redis()
        .executeCommand(new CommandArguments(Command.ACL).addObjects("SETUSER", "default", rule));
  }

  static RedisSettings settings(RedisCluster cluster) {
    return new RedisSettings(
        RedisSettings.Mode.CLUSTER,
        "redis://127.0.0.1:6379",
        cluster.nodes(),
        null,
        2,
        Duration.ofSeconds(10),
        null);
  }

  static SaleObservations observations(FallbackMode mode, UnifiedJedis redis) {
    return observations(mode, redis, consumer.bean(GatewayTable.class));
  }

  static SaleObservations observations(
      FallbackMode mode, UnifiedJedis redis, GatewayTable gateways) {
    return observations(mode, consumer.bean(FallbackSales.class), redis, gateways);
  }

  static SaleObservations observations(
      FallbackMode mode, FallbackSales sales, UnifiedJedis redis, GatewayTable gateways) {
    return new SaleObservations(
        new FallbackProperties(mode),
        sales,
        consumer.bean(AdmittedUnitsTable.class),
        gateways,
        redis);
  }

  /** Both gateways use Redis again; the sale cannot return before its stock there is removed. */
  void leaveWithoutReturning() {
    consumer.redis().del(RedisKeys.stock(sku));
    consumer.redis().sadd(RedisKeys.stock(sku), "foreign");
    fallback.beat(GATEWAY, 1, "USABLE", 60_000);
    fallback.beat(2, 1, "USABLE", 60_000);
    fallback.gatewaysStayAlive();
    fallback.leaveSoon();
  }

  /** Gateway 2 has forgotten orders of the nine units; four are stored. */
  void beginWithUnknownOrders() {
    OrderMessage known = sale.admit(7, 4);
    sale.admit(8, 4);
    sale.admit(9, 1);
    fallback.beat(GATEWAY, 0, "UNUSABLE", 0);
    fallback.beat(2, 0, "UNUSABLE", 0);
    fallback.gatewaysStayAlive();
    long term = fallback.enter();
    fallback.transfer(GATEWAY, term, admitted(sku, 1, 9), known);
    assertThat(fallback.transfer(2, term, "", false).status()).isEqualTo(204);
    fallback.awaitState("MYSQL");
    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(16);
  }

  static void fallsSilent(int gateway, int seconds) {
    execute(
        "UPDATE gateway_node SET heard_at = NOW(6) - INTERVAL %d SECOND WHERE token = '%s'"
            .formatted(seconds, FallbackFixture.token(gateway)));
  }

  static void put(long sku, String product) {
    assertThat(consumer.api().put("/internal/v1/skus/" + sku, product).status()).isEqualTo(201);
  }

  static Answer preheat(long sku) {
    return consumer.api().post("/internal/v1/skus/" + sku + "/preheat");
  }

  /** Its process has ended. */
  static void move(long shard, String id, long delta, String state, boolean inRedis) {
    if (inRedis) {
      consumer.redis().incrBy(RedisKeys.stock(shard), delta);
      consumer.redis().hset(RedisKeys.stockChanges(shard), id, "1:" + delta + ":A");
    }
    consumer.update(
        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)"
            + " VALUES (?, ?, ?, '', '', 1, ?)",
        shard,
        id,
        delta,
        state);
  }

  static void tick() {
    consumer.bean(FallbackControl.class).tick();
  }

  void awaitLook(long admittedUnits) {
    awaitLook(sku, admittedUnits);
  }

  static void awaitLook(long sku, long admittedUnits) {
    SaleObservations looks = consumer.bean(SaleObservations.class);
    eventually()
        .until(() -> looks.of(sku).filter(l -> l.admittedUnits() == admittedUnits).isPresent());
  }
}
