package io.seckill.consumer.fallback;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.TestConsumer;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;

/** Gateways, shoppers and operators during a fallback. */
public final class FallbackFixture {

  static final String FALLBACK = "/internal/v1/fallback";

  private final TestConsumer consumer;
  private final InternalApi api;

  public FallbackFixture(TestConsumer consumer) {
    this.consumer = consumer;
    this.api = consumer.api();
  }

  /** The token of a gateway. */
  static String token(int gateway) {
    return "%032x".formatted(gateway);
  }

  /** A heartbeat of a gateway in mode automatic. */
  JsonNode beat(int gateway, long term, String redis, long forMs) {
    return beat(gateway, "automatic", term, redis, forMs);
  }

  JsonNode beat(int gateway, String mode, long term, String redis, long forMs) {
    Answer answer =
        api.put(
            "/internal/v1/gateways/" + token(gateway),
            """
            {"name":"gateway-%d:8080","fallback":"%s","term":%d,"redis":"%s","forMs":%d,
             "breaker":"CLOSED","failurePercent":0,"failuresPerSecond":0}
            """
                .formatted(gateway, mode, term, redis, forMs));
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer.body();
  }

  /** Gateways with a heartbeat count as alive for a minute, however slow the machine is. */
  void gatewaysStayAlive() {
    consumer.update(
        "UPDATE gateway_node SET heard_at = LEAST(heard_at, NOW(6)) + INTERVAL 1 MINUTE");
  }

  /** Hands over everything that a gateway has promised. */
  void transfer(int gateway, long term, String admitted, OrderMessage... orders) {
    Answer answer = transfer(gateway, term, admitted, true, orders);
    assertThat(answer.status()).as(answer.text()).isEqualTo(204);
  }

  Answer transfer(
      int gateway, long term, String admitted, boolean isComplete, OrderMessage... orders) {
    return part(gateway, term, admitted, "\"isLast\":true,\"isComplete\":" + isComplete, orders);
  }

  /** Hands over a part, with other members of the request as JSON. */
  Answer part(int gateway, long term, String admitted, String others, OrderMessage... orders) {
    return api.post(
        "/internal/v1/gateways/" + token(gateway) + "/handover",
        "{\"term\":%d,\"orders\":[%s],\"admitted\":[%s],%s}"
            .formatted(
                term,
                Arrays.stream(orders).map(FallbackFixture::json).collect(Collectors.joining(",")),
                admitted,
                others));
  }

  /** A gateway that stops. */
  Answer end(int gateway) {
    return api.send("DELETE", "/internal/v1/gateways/" + token(gateway), new byte[0]);
  }

  static String admitted(long sku, long epoch, long units) {
    return "{\"skuId\":%d,\"epoch\":%d,\"units\":%d}".formatted(sku, epoch, units);
  }

  private static String json(OrderMessage order) {
    return """
    {"orderId":"%s","userId":%d,"skuId":%d,"quantity":%d,"requestId":"%s","policy":"%s",
     "epoch":%d,"seq":%d,"admittedAt":%d}
    """
        .formatted(
            order.orderId(),
            order.userId(),
            order.skuId(),
            order.quantity(),
            order.requestId(),
            order.policy(),
            order.epoch(),
            order.seq(),
            order.admittedAt());
  }

  /** Buys, and returns outcome and order id, if any. */
  JsonNode buy(long sku, long user, String key, int quantity) {
    Answer answer =
        api.post(
            "/internal/v1/purchases",
            """
            {"purchases":[{"skuId":%d,"userId":%d,"requestId":"%s","quantity":%d}]}
            """
                .formatted(sku, user, key, quantity));
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer.body().path("outcomes").path(0);
  }

  /** Buys one unit under a new key, and returns the outcome. */
  String buy(long sku, long user) {
    return buy(sku, user, "key-of-" + System.nanoTime(), 1).path("outcome").asString();
  }

  /** A sale in a fallback has sold so many single units before, and has more to sell. */
  public void sell(long sku, int orders, int left) {
    long time = System.currentTimeMillis() - Duration.ofMinutes(1).toMillis();
    long first = OrderId.of(time, Partition.ofSku(sku), 1, 0).value();
    long perMs = OrderId.of(time + 1, Partition.ofSku(sku), 1, 0).value() - first;
    String digit =
        IntStream.range(0, 10)
            .mapToObj(d -> "SELECT " + d + " AS d")
            .collect(Collectors.joining(" UNION ALL ", "(", ")"));
    String numbers =
        " FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d AS n FROM "
            + "%1$s a JOIN %1$s b JOIN %1$s c JOIN %1$s e JOIN %1$s f) n WHERE n < %2$d"
                .formatted(digit, orders);
    consumer.update(
        "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,"
            + " status, epoch, seq, admitted_at) SELECT %d + n DIV 1000 * %d + n MOD 1000,"
                .formatted(first, perMs)
            + " 100000 + n, %d, 1, 100, CONCAT('key-of-before-', n), 'CONFIRMED', 1, n + 1, NOW(3)"
                .formatted(sku)
            + numbers);
    consumer.update(
        "INSERT INTO user_quota (sku_id, user_id, owned_count, limit_units) SELECT %d, 100000 + n, 1, 5"
                .formatted(sku)
            + numbers);
    consumer.update(
        "INSERT INTO order_total (sku_id, fate, orders, units) VALUES (%1$d, 'CONFIRMED', %2$d, %2$d)"
                .formatted(sku, orders)
            + " ON DUPLICATE KEY UPDATE orders = orders + VALUES(orders), units = units + VALUES(units)");
    consumer.update(
        "UPDATE products SET stock = stock + %1$d, initial_stock = initial_stock + %1$d + %2$d,"
                .formatted(left, orders)
            + " last_seq = last_seq + %1$d, settled = settled + %1$d WHERE sku_id = %2$d"
                .formatted(orders, sku));
  }

  /** It has the coming term already, so that MySQL waits longer for what it transfers. */
  void beatBeforeEntering(int gateway) {
    beat(gateway, view().path("term").longValue() + 1, "UNUSABLE", 0);
    gatewaysStayAlive();
  }

  /** Begins a fallback as an operator. */
  long enter() {
    Answer answer = api.post(FALLBACK + "/enter", "{}");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer.number("term");
  }

  Answer leave() {
    return api.post(FALLBACK + "/leave", "{}");
  }

  JsonNode view() {
    return api.get(FALLBACK).body();
  }

  /** Ends a fallback; repeats the request until it is accepted. */
  void leaveSoon() {
    eventually()
        .untilAsserted(
            () -> {
              Answer answer = leave();
              assertThat(answer.status()).as(answer.text()).isEqualTo(200);
            });
  }

  String state() {
    return view().path("state").asString();
  }

  void awaitState(String state) {
    eventually()
        .pollInterval(Duration.ofMillis(50))
        .untilAsserted(() -> assertThat(state()).as("%s", view()).isEqualTo(state));
  }

  /** Begins a fallback and lets all gateways report that they promised nothing more. */
  public void enterWith(int gateway, String admitted, OrderMessage... orders) {
    beatBeforeEntering(gateway);
    long term = enter();
    transfer(gateway, term, admitted, orders);
    awaitState("MYSQL");
  }

  /**
   * Another process loads the sale: it holds the lock of the run, and has raised the epoch.
   *
   * @return ends with the lock, as that process does
   */
  public Connection loadingElsewhere(long sku) throws SQLException {
    Connection other = consumer.database().connect();
    try (Statement statement = other.createStatement()) {
      statement.execute(
          "SELECT GET_LOCK(CONCAT(LEFT(SHA2(DATABASE(), 256), 16), 'reconcile-%d'), 10)"
              .formatted(sku));
      statement.execute(
          "UPDATE products SET fallback = 'RETURNING', epoch = epoch + 1, reserved_units = 0,"
              + " state_version = state_version + 1 WHERE sku_id = "
              + sku);
    }
    return other;
  }

  /** Gives all sales back to Redis. */
  void comeBack() {
    consumer.update("DELETE FROM gateway_node");
    leaveSoon();
    awaitState("REDIS");
  }

  String product(long sku, String column) {
    return consumer.product(sku, column);
  }

  public long number(long sku, String column) {
    return Long.parseLong(product(sku, column));
  }

  /** Checks that every unit and order is accounted for. */
  void assertBalanced(long sku) {
    eventually()
        .untilAsserted(
            () -> {
              JsonNode ledger = api.get("/internal/v1/skus/" + sku + "/ledger").body();
              assertThat(ledger.path("balanced").asBoolean()).as("%s", ledger).isTrue();
            });
  }

  /** Lets Redis and MySQL be compared and repaired until a run finds no difference. */
  void reconcile(long sku) {
    eventually()
        .untilAsserted(
            () -> {
              JsonNode report =
                  api.post("/internal/v1/skus/" + sku + "/reconciliation", "{\"dryRun\":false}")
                      .body();
              assertThat(report.path("outcome").asString()).as("%s", report).isEqualTo("CLEAN");
            });
  }

  /** Checks that Redis and MySQL hold the same. */
  public void assertStoresAgree(long sku) {
    eventually()
        .untilAsserted(
            () -> {
              JsonNode report =
                  api.post("/internal/v1/skus/" + sku + "/reconciliation", "{\"dryRun\":true}")
                      .body();
              assertThat(report.path("outcome").asString()).as("%s", report).isEqualTo("CLEAN");
            });
  }
}
