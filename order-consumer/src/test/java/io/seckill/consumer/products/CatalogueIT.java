package io.seckill.consumer.products;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.testing.InternalApi;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Races;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.TestServers;
import jakarta.persistence.EntityManagerFactory;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import java.util.concurrent.atomic.AtomicLong;
import org.hibernate.dialect.Dialect;
import org.hibernate.dialect.MariaDBDialect;
import org.hibernate.dialect.MySQLDialect;
import org.hibernate.engine.spi.SessionFactoryImplementor;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Runs in a time zone far from UTC, to reveal times that depend on the JVM's time zone. */
@ExtendWith(TestServers.class)
class CatalogueIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(1001);
  private static final TimeZone ZONE = TimeZone.getDefault();

  private static TestConsumer consumer;
  private static InternalApi api;

  private final long sku = NEXT_SKU.getAndIncrement();
  private final String path = "/internal/v1/skus/" + sku;

  @BeforeAll
  static void start() {
    TimeZone.setDefault(TimeZone.getTimeZone("Asia/Tokyo"));
    consumer = TestConsumer.start();
    api = consumer.api();
  }

  @AfterAll
  static void stop() {
    consumer.close();
    TimeZone.setDefault(ZONE);
  }

  @Test
  void putCreatesAProductWhoseStockIsItsInitialStock() {
    Answer created = api.put(path, Sales.product("LIMITED", 2, 500));

    assertThat(created.status()).isEqualTo(201);
    assertThat(created.body().toString())
        .isEqualTo(
            """
            {"skuId":%d,"name":"Phone","priceCents":9900,"stock":500,"initialStock":500,\
            "policy":"LIMITED","limitPerUser":2,"decides":"REDIS","fallback":"NO","opensAt":"2026-01-01T00:00:00Z",\
            "closesAt":"2036-01-01T00:00:00.123Z","state":"NEW","stateVersion":0,"epoch":0,"lastSeq":0,"settled":0,"shards":1,"version":0}\
            """
                .formatted(sku));
    assertThat(api.get(path).body()).isEqualTo(created.body());
    assertThat(column("CAST(closes_at AS CHAR)")).isEqualTo("2036-01-01 00:00:00.123");
  }

  @Test
  void anEditOfAnEarlierVersionIsRefused() {
    String product = Sales.product("LIMITED", 2, 500);
    String ofFirst = product.replaceFirst("}$", ",\"version\":0}");
    assertThat(api.put(path, ofFirst).code()).isEqualTo("UNKNOWN_SKU");
    api.put(path, product);
    String edit = ofFirst.replace("9900", "5900");
    assertThat(api.put(path, edit).number("version")).isEqualTo(1);
    assertThat(api.put(path, edit).status()).as("a repeat of the edit").isEqualTo(200);

    Answer late = api.put(path, ofFirst.replace("Phone", "Radio"));

    assertThat(late.status()).isEqualTo(409);
    assertThat(late.code()).isEqualTo("EDIT_CONFLICT");
    assertThat(api.get(path).number("priceCents")).isEqualTo(5900);
    assertThat(api.get(path).text("name")).isEqualTo("Phone");
  }

  /**
   * It put back the stock that it had read, and the change was DONE. After the preheat it was taken
   * for one that changes the stock.
   */
  @ParameterizedTest
  @CsvSource({"50, false", "-50, false", "50, true", "-50, true"})
  void anEditBegunBeforeAStockChangeIsRefused(long delta, boolean isPreheated) {
    api.put(path, Sales.product("LIMITED", 2, 500));
    if (isPreheated) {
      assertThat(api.post(path + "/preheat", "{}").status()).isEqualTo(200);
    }
    long read = api.get(path).number("version");
    assertThat(api.changeStock(sku, "change-1", delta).text("state")).isEqualTo("DONE");
    String edit = Sales.product("LIMITED", 2, 500).replace("Phone", "Radio");

    Answer late = api.put(path, edit.replaceFirst("}$", ",\"version\":%d}".formatted(read)));

    assertThat(late.code()).as(late.text()).isEqualTo("EDIT_CONFLICT");
    assertThat(column("CONCAT_WS(' ', name, stock, initial_stock)"))
        .isEqualTo("Phone %1$d %1$d".formatted(500 + delta));
  }

  @Test
  void anUnlimitedProductHasLimitZeroHoweverItIsSaid() {
    String zero = Sales.product("UNLIMITED", 0, 5);

    for (String body :
        List.of(
            zero,
            zero.replace("\"limitPerUser\":0", "\"limitPerUser\":null"),
            zero.replace("\"limitPerUser\":0,", ""))) {
      assertThat(api.put(path, body).body().path("limitPerUser").intValue()).isZero();
    }
    assertThat(column("limit_per_user")).isEqualTo("0");
  }

  @Test
  void afterThePreheatNameAndALaterClosingTimeMayChange() {
    api.put(path, Sales.product("LIMITED", 2, 500));
    api.post(path + "/preheat", "{}");
    String same = Sales.product("LIMITED", 2, 500);

    assertThat(api.put(path, same).status()).isEqualTo(200);
    Answer later = api.put(path, same.replace("2036", "2037").replace("Phone", "Téléphone 電話"));

    assertThat(later.status()).isEqualTo(200);
    assertThat(later.text("name")).isEqualTo("Téléphone 電話");
    assertThat(later.text("closesAt")).isEqualTo("2037-01-01T00:00:00.123Z");
  }

  /** MySQL was restored from a backup older than the first preheat; only Redis has the orders. */
  @ParameterizedTest
  @CsvSource({
    "1, epoch, priceCents, 9900, 5900",
    "1, epoch, stock, 5000, 100",
    "1, epoch, policy, \"LIMITED\", \"ONE_PER_USER\"",
    "1, epoch, decides, \"REDIS\", \"MYSQL\"",
    "1, loading, stock, 5000, 100",
    "4, epoch, stock, 5000, 100",
    "4, epoch, shards, 4, 1"
  })
  void anEditOfANewProductThatRedisHasIsThatOfAPreheatedOne(
      int shards, String inRedis, String member, String from, String to) {
    String product =
        Sales.product("LIMITED", 1, 5000)
            .replace("{", "{\"decides\":\"REDIS\",\"shards\":%d,".formatted(shards));
    String edit = product.replace(json(member, from), json(member, to));
    String inMySql = "CONCAT_WS(' ', price_cents, stock, policy, decides, shards, version)";
    api.put(path, product);
    String before = column(inMySql);
    String last = RedisKeys.sku(shards == 1 ? sku : Shards.ids(sku, shards).get(shards - 1));
    consumer.redis().hset(last, inRedis, "1");

    Answer refused = api.put(path, edit);

    assertThat(refused.code()).as(refused.text()).isEqualTo("IMMUTABLE_AFTER_PREHEAT");
    assertThat(refused.field()).isEqualTo(member);
    assertThat(column(inMySql)).isEqualTo(before);
    assertThat(api.put(path, product.replace("Phone", "Radio")).status()).isEqualTo(200);

    consumer.redis().del(last);
    assertThat(api.put(path, edit).status()).isEqualTo(200);
  }

  private static String json(String member, String value) {
    return "\"%s\":%s".formatted(member, value);
  }

  /** And may be sold without it then. */
  @ParameterizedTest
  @EnumSource(Decider.class)
  void withoutRedisAProductIsCreatedAndEdited(Decider decider) {
    Catalogue alone =
        new Catalogue(
            consumer.bean(Products.class),
            consumer.bean(TransactionOperations.class),
            consumer.bean(SaleExtension.class),
            consumer.bean(RedisCallGuard.class),
            new CannedRedis(
                command -> {
                  throw new JedisConnectionException("away");
                }));

    assertThat(alone.upsert(sku, rules(decider, 500), null).created()).isTrue();
    assertThat(alone.upsert(sku, rules(decider, 500), null).created()).as("a repeat").isFalse();

    assertThat(alone.upsert(sku, rules(decider, 100), null).row().stock()).isEqualTo(100);
    assertThat(alone.upsert(sku, rules(Decider.MYSQL, 100), null).row().decides())
        .isEqualTo(Decider.MYSQL);
  }

  private static ProductRules rules(Decider decider, long stock) {
    Instant opening = Instant.parse("2026-01-01T00:00:00Z");
    Instant closing = Instant.parse("2036-01-01T00:00:00Z");
    return new ProductRules(
        "Phone", 9_900, stock, PurchasePolicy.LIMITED, 2, decider, opening, closing, 1);
  }

  /** In a fallback the row says MYSQL, and the operator goes on to say REDIS. */
  @Test
  void anEditInAFallbackLeavesTheDeciderOfTheRow() {
    api.put(path, Sales.product("LIMITED", 2, 500));
    api.post(path + "/preheat", "{}");
    consumer.update(
        "UPDATE products SET decides = 'MYSQL', fallback = 'ACTIVE' WHERE sku_id = ?", sku);

    Answer edited = api.put(path, Sales.product("LIMITED", 2, 500).replace("Phone", "Radio"));

    assertThat(edited.status()).isEqualTo(200);
    assertThat(edited.text("fallback")).isEqualTo("ACTIVE");
    assertThat(api.get(path).body()).isEqualTo(edited.body());
    assertThat(column("CONCAT_WS(' ', name, decides, sale_phase, state_version, version)"))
        .isEqualTo("Radio MYSQL MYSQL 2 2");
  }

  @Test
  void editsNeverWriteBackWhatTheBatchPathCounts() {
    api.put(path, Sales.product("LIMITED", 2, 1000));
    api.post(path + "/preheat", "{}");
    int rounds = 200;

    Races.race(
        List.of(
            () -> {
              for (int i = 0; i < rounds; i++) {
                consumer.update(
                    "UPDATE products SET stock = stock - 1, settled = settled + 1,"
                        + " last_seq = last_seq + 1 WHERE sku_id = ? AND stock >= 1",
                    sku);
              }
            },
            () -> {
              for (int i = 0; i < rounds; i++) {
                assertThat(
                        api.put(path, Sales.product("LIMITED", 2, 1000).replace("Phone", "P" + i))
                            .status())
                    .isEqualTo(200);
              }
            }));

    Answer row = api.get(path);
    assertThat(row.number("stock")).isEqualTo(1000 - rounds);
    assertThat(row.number("settled")).isEqualTo(rounds);
    assertThat(row.number("lastSeq")).isEqualTo(rounds);
    assertThat(row.text("name")).isEqualTo("P" + (rounds - 1));
  }

  /** facts.md 39: MariaDB reports itself to MySQL's driver as version 5.5.5. */
  @Test
  void speaksTheDialectOfTheServer() {
    Dialect dialect =
        consumer
            .bean(EntityManagerFactory.class)
            .unwrap(SessionFactoryImplementor.class)
            .getJdbcServices()
            .getDialect();
    String version = consumer.text("SELECT VERSION()");

    assertThat(dialect.getClass())
        .isEqualTo(version.contains("MariaDB") ? MariaDBDialect.class : MySQLDialect.class);
    assertThat(version)
        .startsWith(dialect.getVersion().getMajor() + "." + dialect.getVersion().getMinor() + ".");
  }

  /**
   * facts.md 36: a duplicate key makes JPA's transaction rollback-only; without a version, save()
   * would overwrite the row.
   */
  @Test
  void concurrentCreatesMakeOneProduct() {
    List<Integer> statuses = Collections.synchronizedList(new ArrayList<>());
    Runnable put = () -> statuses.add(api.put(path, Sales.product("LIMITED", 2, 500)).status());

    Races.race(List.of(put, put, put, put));

    assertThat(statuses).containsExactlyInAnyOrder(201, 200, 200, 200);
  }

  @Test
  void preheatIsRefusedWhileRedisHasAdmittedWhatMySqlHasNotSettled() {
    closedSale();
    consumer.redis().hset(RedisKeys.sku(sku), Map.of("seq", "12"));
    settledInMySql(11);

    assertThat(api.post(path + "/preheat", "{}").code()).isEqualTo("ORDERS_IN_FLIGHT");
    settledInMySql(12);
    assertThat(api.post(path + "/preheat", "{}").status()).isEqualTo(200);
  }

  @Test
  void preheatIsRepeatableWhenItNeverWroteRedis() {
    closedSale();
    consumer.redis().hset(RedisKeys.sku(sku), Map.of("seq", "12"));
    settledInMySql(12);
    assertThat(api.post(path + "/preheat", "{}").body().path("epoch").longValue()).isEqualTo(2);
    settledInMySql(0);
    consumer
        .redis()
        .hset(RedisKeys.sku(sku), "epoch", "1"); // the process died before it wrote Redis

    assertThat(api.post(path + "/preheat", "{}").body().path("epoch").longValue()).isEqualTo(3);
  }

  /** It was PREHEAT_OVERTAKEN, once for every epoch that Redis was ahead. */
  @ParameterizedTest
  @ValueSource(strings = {"epoch", "loading"})
  void aPreheatGoesAboveTheEpochOfRedisWhenMySqlWasRestoredFromABackup(String field) {
    closedSale();
    consumer.redis().hset(RedisKeys.sku(sku), field, "4");

    Answer preheated = api.post(path + "/preheat", "{}");

    assertThat(preheated.status()).as(preheated.text()).isEqualTo(200);
    assertThat(preheated.number("epoch")).isEqualTo(5);
    assertThat(consumer.redis().hget(RedisKeys.sku(sku), "epoch")).isEqualTo("5");
  }

  @Test
  void preheatIsRefusedWhileUnitsAreOwedToRedisOrADeadLetterIsOpen() {
    closedSale();
    consumer.update(
        "INSERT INTO compensation (order_id, sku_id, user_id, epoch, stock_units, quota_units)"
            + " VALUES (?, ?, 1, 99, 1, 1)",
        sku,
        sku);
    assertThat(api.post(path + "/preheat", "{}").code()).isEqualTo("ORDERS_IN_FLIGHT");
    consumer.update("DELETE FROM compensation WHERE sku_id = ?", sku);

    consumer.update(
        "INSERT INTO dead_letter (order_id, sku_id, user_id, payload, payload_hash, reason,"
            + " detail, attempts, first_failed_at, last_failed_at)"
            + " VALUES (1, ?, 1, 'x', UNHEX(SHA2(?, 256)), 'r', 'd', 1, NOW(3), NOW(3))",
        sku,
        "dead " + sku);
    assertThat(api.post(path + "/preheat", "{}").code()).isEqualTo("ORDERS_IN_FLIGHT");
    consumer.update("DELETE FROM dead_letter WHERE sku_id = ?", sku);

    assertThat(api.post(path + "/preheat", "{}").status()).isEqualTo(200);
  }

  /** It was a false PREHEAT_OVERTAKEN, and every repeat too. */
  @ParameterizedTest
  @CsvSource({"1, NEW", "4, NEW", "1, CLOSED"})
  void aSaleThatRedisWouldForgetAtOnceIsNotPreheated(int shards, String state) {
    if (state.equals("CLOSED")) {
      closedSale();
    } else {
      api.put(
          path, Sales.product("LIMITED", 2, 500).replace("{", "{\"shards\":%d,".formatted(shards)));
    }
    String before = column("CONCAT_WS(' ', state, epoch, version)");
    closesBefore("47:00:00");

    Answer refused = api.post(path + "/preheat", "{}");

    assertThat(refused.code()).as(refused.text()).isEqualTo("REFUSED");
    assertThat(refused.text()).contains(column("DATE_FORMAT(closes_at, '%Y-%m-%dT%H:%i')"));
    assertThat(column("CONCAT_WS(' ', state, epoch, version)")).isEqualTo(before).startsWith(state);

    closesBefore("46:59:00");
    assertThat(api.post(path + "/preheat", "{}").status()).isEqualTo(200);
  }

  private void closesBefore(String time) {
    consumer.update(
        "UPDATE products SET opens_at = '2025-01-01',"
            + " closes_at = SUBTIME(UTC_TIMESTAMP(3), ?) WHERE sku_id = ?",
        time,
        sku);
  }

  @Test
  void anUnknownProductIsNotFound() {
    assertThat(api.get(path).status()).isEqualTo(404);
    assertThat(api.get(path).code()).isEqualTo("UNKNOWN_SKU");
    assertThat(api.post(path + "/preheat", "{}").code()).isEqualTo("UNKNOWN_SKU");
  }

  private void closedSale() {
    new Sales(consumer).open(sku, "LIMITED", 2, 500);
    state("CLOSED");
  }

  private Answer state(String target) {
    return api.post(path + "/state", "{\"state\":\"" + target + "\"}");
  }

  private void settledInMySql(long settled) {
    consumer.update("UPDATE products SET settled = ? WHERE sku_id = ?", settled, sku);
  }

  private String column(String expression) {
    return consumer.product(sku, expression);
  }
}
