package io.seckill.gateway.ops;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.GatewayStage;
import io.seckill.gateway.testing.Placed;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.testing.Watching;
import io.seckill.support.contract.ProductRow;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

@ExtendWith(TestServers.class)
class OpsEventsIT {

  private static final GatewayStage stage = GatewayStage.shared();

  @Test
  void tellsOfSalesLedgersLanesAndServices() throws Exception {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    stage.buy(sku, 3);

    try (Watching watching = Watching.of(stage.gateway())) {
      JsonNode snapshot =
          eventually("a whole snapshot with the SKU")
              .until(
                  () -> watching.await("redis UP", "mysql UP", "consumer UP"),
                  one -> isWhole(one) && lists(one, sku));

      assertThat(snapshot.path("lanes").path("outboxes").size()).isEqualTo(16);
      assertThat(snapshot.path("stops").isArray()).isTrue();
      assertThat(snapshot.path("deadLetters").isNumber()).isTrue();
      for (String kind :
          List.of("REFUNDS", "COMPENSATIONS", "EXPIRIES", "UNEXPLAINED_CHARGES", "ARCHIVES")) {
        JsonNode work = snapshot.path("pendingWork").path(kind);
        assertThat(work.path("number").isNumber()).as(kind).isTrue();
        assertThat(work.path("oldestSeconds").isNumber()).as(kind).isTrue();
      }
    }
  }

  /** On a slow machine a snapshot lacks what was not read in time. */
  private static boolean isWhole(JsonNode snapshot) {
    return snapshot.path("lanes").isObject()
        && snapshot.path("stops").isArray()
        && snapshot.path("deadLetters").isNumber()
        && snapshot.path("pendingWork").isObject();
  }

  private static boolean lists(JsonNode snapshot, long sku) {
    return snapshot
        .path("skus")
        .valueStream()
        .anyMatch(row -> row.path("skuId").longValue() == sku);
  }

  @Test
  void listsEveryProductPageByPageRunningSalesFirst() {
    for (int i = 0; i < 3; i++) {
      stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    }
    List<Long> listed = new ArrayList<>();
    List<String> states = new ArrayList<>();
    String cursor = "";
    do {
      JsonNode page = stage.gateway().adminGet("/admin/v1/skus?limit=2" + cursor).json();
      for (JsonNode sku : page.path("skus")) {
        listed.add(sku.path("skuId").longValue());
        states.add(sku.path("state").stringValue());
      }
      cursor = page.path("next").isNull() ? "" : "&cursor=" + page.path("next").stringValue();
    } while (!cursor.isEmpty());

    List<Long> all =
        stage
            .mysql()
            .sql("SELECT sku_id FROM products WHERE sku_id < ?")
            .param(Shards.FIRST_ID)
            .query(Long.class)
            .list();
    assertThat(listed).doesNotHaveDuplicates().hasSameElementsAs(all);
    assertThat(states)
        .isSortedAccordingTo(
            Comparator.comparing(List.of("OPEN", "PAUSED", "PREHEATED", "NEW", "CLOSED")::indexOf));
    for (String query : List.of("limit=0", "limit=201", "cursor=OPEN-1", "cursor=GONE-1-1")) {
      assertThat(stage.gateway().adminGet("/admin/v1/skus?" + query).code())
          .isEqualTo("INVALID_REQUEST");
    }
  }

  @Test
  void tellsWhatEveryGatewayFindsOfRedis() throws Exception {
    try (Watching watching = Watching.of(stage.gateway())) {
      eventually("a snapshot with this gateway's heartbeat")
          .until(
              () -> {
                JsonNode fallback = watching.next().path("fallback");
                return fallback.path("mode").asString("").equals("off")
                    && fallback.path("state").asString("").equals("REDIS")
                    && fallback.path("gateways").valueStream().anyMatch(OpsEventsIT::usesRedis);
              });
    }
  }

  private static boolean usesRedis(JsonNode gateway) {
    return gateway.path("redis").asString("").equals("USABLE")
        && gateway.path("breaker").asString("").equals("CLOSED")
        && gateway.path("heardMsAgo").longValue() < 5_000;
  }

  /** Else an outage that leaves many makes every later snapshot slow. */
  @Test
  void countsTenThousandDeadLettersAtMost() {
    long user = stage.newUser();
    stage.update(
        """
        INSERT INTO dead_letter (order_id, sku_id, user_id, payload, payload_hash, reason,
            detail, attempts, first_failed_at, last_failed_at)
        WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 101)
        SELECT 1000 * a.i + b.i, 1, ?, '', UNHEX(SHA2(UUID(), 256)), 'TEST', '', 5,
            UTC_TIMESTAMP(3), UTC_TIMESTAMP(3) FROM n a, n b
        """,
        user);
    try {
      SalesTable.Sales sales =
          stage
              .gateway()
              .bean(SalesTable.class)
              .sales()
              .blockOptional(Duration.ofSeconds(30))
              .orElseThrow();
      assertThat(sales.deadLetters()).isEqualTo(SalesTable.MOST_DEAD_LETTERS);
    } finally {
      stage.update("DELETE FROM dead_letter WHERE user_id = ?", user);
    }
  }

  @Test
  void measuresClickToRowWithoutStrongSales() {
    long sku = stage.newStrongSale();
    Placed order = stage.store(sku, stage.newUser(), 1, 1, "CONFIRMED", null);
    stage.store(stage.newSku(), stage.newUser(), 1, 1, "CONFIRMED", null);
    long newest = System.currentTimeMillis() + Duration.ofDays(1).toMillis();
    OrderId id = OrderId.of(newest, Partition.ofSku(sku), OrderId.MYSQL_WORKER, 1);

    stage.update(
        "UPDATE orders SET order_id = ?, admitted_at = admitted_at - INTERVAL 1 HOUR WHERE"
            + " order_id = ?",
        id.value(),
        order.id().value());

    SalesTable.ClickToRow measured = stage.gateway().bean(SalesTable.class).clickToRow();
    assertThat(measured).isNotNull();
    assertThat(Duration.ofMillis((long) measured.p99Ms())).isLessThan(Duration.ofMinutes(30));
    stage.update("DELETE FROM orders WHERE order_id = ?", id.value());
  }

  @ParameterizedTest
  @ValueSource(strings = {"en-US", "fa-IR-u-nu-arabext", "ar-EG-u-nu-arab", "tr-TR"})
  void readsMySqlInEveryLocale(String locale) {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    stage.store(sku, stage.newUser(), 1, 1, "CONFIRMED", null);
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.forLanguageTag(locale));
    try {
      SalesTable.Sales sales =
          stage
              .gateway()
              .bean(SalesTable.class)
              .sales()
              .blockOptional(Duration.ofSeconds(30))
              .orElseThrow();
      assertThat(sales.products()).extracting(ProductRow::skuId).contains(sku);
      assertThat(sales.clickToRow()).isPresent();
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void halfOfTheOrdersAreFasterThanP50AndOneInAHundredSlowerThanP99() {
    assertMeasures500Of("CONFIRMED");
  }

  /** The clock of a gateway was an hour ahead until two minutes ago. */
  @ParameterizedTest
  @ValueSource(strings = {"CONFIRMED", "PAID"})
  void measuresTheLatestRowsAndNotTheHighestIds(String status) {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    store501(sku, Duration.ofHours(1), "CONFIRMED", Duration.ofMinutes(2));

    assertMeasures500Of(status);
    stage.update("DELETE FROM orders WHERE sku_id = ?", sku);
  }

  /** The latest 500 orders: 1 ms, 2 ms, and so on to half a second. */
  private static void assertMeasures500Of(String status) {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    store501(sku, Duration.ZERO, status, Duration.ZERO);

    SalesTable.ClickToRow measured = stage.gateway().bean(SalesTable.class).clickToRow();
    stage.update("DELETE FROM orders WHERE sku_id = ?", sku);

    assertThat(measured).isEqualTo(new SalesTable.ClickToRow(500, 250, 495));
  }

  /**
   * Stores 500 orders that took 1 ms, 2 ms, and so on; the one before, with the lowest id, 30 s.
   *
   * @param ahead the gateway's clock
   * @param age of the rows
   */
  private static void store501(long sku, Duration ahead, String status, Duration age) {
    long made = Instant.now().plus(ahead).toEpochMilli();
    stage.update(
        """
        INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,
          status, epoch, seq, admitted_at, created_at)
        WITH RECURSIVE n AS (SELECT 1 AS ms UNION ALL SELECT ms + 1 FROM n WHERE ms < 501)
        SELECT ? + MOD(ms, 501), ?, ?, 1, 1, CONCAT('click-', ms), ?, 1, 1,
          UTC_TIMESTAMP(3) - INTERVAL ? + IF(ms = 501, 30000, ms) * 1000 MICROSECOND,
          UTC_TIMESTAMP(3) - INTERVAL ? MICROSECOND FROM n
        """,
        OrderId.of(made, Partition.ofSku(sku), 199, 0).value(),
        stage.newUser(),
        sku,
        status,
        TimeUnit.MILLISECONDS.toMicros(age.toMillis()),
        TimeUnit.MILLISECONDS.toMicros(age.toMillis()));
  }

  @Test
  void listsProductsThatAreNotOnSaleYetToo() {
    long fresh = stage.newSku();
    stage
        .gateway()
        .operate(
            "PUT", GatewayStage.admin(fresh), GatewayStage.product(PurchasePolicy.LIMITED, 5, 100));

    GatewayAnswer list = stage.gateway().adminGet("/admin/v1/skus");

    assertThat(list.json().path("skus").valueStream().map(row -> row.path("skuId").longValue()))
        .contains(fresh);
  }

  @Test
  void saysThatOrderConsumerIsAwayAndShowsTheRest() throws Exception {
    try (TestGateway lonely =
            TestGateway.start(stage.redisDatabase(), stage.mysqlDatabase(), "http://127.0.0.1:1");
        Watching watching = Watching.of(lonely)) {
      JsonNode snapshot = watching.await("consumer DOWN", "broker UNKNOWN", "redis UP", "mysql UP");

      assertThat(snapshot.path("ledgers").isEmpty()).isTrue();
      assertThat(snapshot.path("skus").isArray()).isTrue();
    }
  }

  @Test
  void showsTheProductsThatCanBeStoppedWhileMySqlIsAway() throws Exception {
    long sku = stage.onSale(PurchasePolicy.LIMITED, 5, 100);
    try (TcpProxy link = TcpProxy.to(stage.mysqlDatabase().host(), stage.mysqlDatabase().port());
        TestGateway own =
            TestGateway.start(
                stage.redisDatabase(), stage.mysqlDatabase().via(link), "http://127.0.0.1:1")) {
      eventually().until(() -> own.send(own.shop("/api/v1/skus/" + sku)).status() == 200);
      link.cut();

      try (Watching watching = Watching.of(own)) {
        JsonNode snapshot = watching.await("mysql DOWN");

        assertThat(snapshot.path("skus").valueStream())
            .filteredOn(row -> row.path("skuId").longValue() == sku)
            .extracting(row -> row.path("state").stringValue())
            .containsExactly("OPEN");
      }
    }
  }

  @Test
  void refusesMoreViewersThanAllowedAndLetsOneInWhenAnotherLeft() throws Exception {
    List<Watching> viewers = new ArrayList<>();
    try (TestGateway own =
        TestGateway.start(stage.redisDatabase(), stage.mysqlDatabase(), "http://127.0.0.1:1")) {
      for (int i = 0; i < OpsEvents.MAX_VIEWERS; i++) {
        viewers.add(Watching.of(own));
        viewers.get(i).next();
      }
      assertThat(own.adminGet("/admin/v1/events").code()).isEqualTo("BUSY");
      viewers.get(0).close();
      eventually()
          .until(
              () -> {
                try (Watching again = Watching.of(own)) {
                  return again.status() == 200;
                }
              });
    } finally {
      for (Watching viewer : viewers) {
        viewer.close();
      }
    }
  }

  @Test
  void endsItsStreamsWhenTheGatewayStops() throws Exception {
    TestGateway gateway =
        TestGateway.start(stage.redisDatabase(), stage.mysqlDatabase(), "http://127.0.0.1:1");
    try (Watching watching = Watching.of(gateway)) {
      watching.next();
      gateway.close();

      assertThat(watching.readToEnd()).isTrue();
    }
  }
}
