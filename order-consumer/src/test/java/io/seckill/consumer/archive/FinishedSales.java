package io.seckill.consumer.archive;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.jdbc.core.simple.JdbcClient;
import tools.jackson.databind.JsonNode;

/** A finished sale of its own, and archives that the test begins. */
abstract class FinishedSales {

  static final AtomicLong NEXT_SKU = new AtomicLong(22_000);

  /** Of InnoDB's status: the rows that the transaction of a connection has locked. */
  static final String LOCKED = "(\\d+) row lock\\(s\\).*\\n.* thread id %d,";

  static final String BEGUN =
      "UPDATE archive SET started_at = NOW(6) + INTERVAL ? MINUTE WHERE sku_id = ?";

  static final TestConsumer consumer = TestConsumer.shared();

  static final OrderFlood flood = new OrderFlood(consumer.vhost());

  final long sku = NEXT_SKU.getAndIncrement();
  final StoredOrderFixture stored = new StoredOrderFixture(consumer);

  /** A ledger compares the whole partition, in which other tests leave sales of all kinds. */
  @BeforeAll
  static void emptyPartitions() {
    for (int partition = 0; partition < Partition.COUNT; partition++) {
      consumer.redis().del(RedisKeys.skus(partition));
    }
  }

  /** The shards, in the order of ids. */
  List<Long> openShards() {
    String path = "/internal/v1/skus/" + sku;
    String four = "\"shards\":4,\"stock\"";
    consumer.api().put(path, Sales.product("ONE_PER_USER", 1, 402).replace("\"stock\"", four));
    consumer.api().post(path + "/preheat");
    eventually().until(() -> consumer.api().post(path + "/open").status() == 200);
    return Shards.ids(sku, 4);
  }

  /** An order that Redis has admitted, and MySQL has stored. */
  OrderId sold(long shard, long user) {
    OrderId order = stored.confirmed(shard, user, 1);
    consumer.redis().hset(RedisKeys.sku(shard), "seq", consumer.product(shard, "last_seq"));
    for (String count : List.of("admitted", "published")) {
      consumer.redis().hincrBy(RedisKeys.sku(shard), count + "Orders", 1);
      consumer.redis().hincrBy(RedisKeys.sku(shard), count + "Units", 1);
    }
    return order;
  }

  static void closedLongAgo(long id) {
    consumer.update("UPDATE products SET closes_at = NOW() - INTERVAL 8 DAY WHERE sku_id = ?", id);
  }

  static SaleArchiver archiver(ArchiveTable table) {
    return archiver(table, consumer.bean(ArchiveSteps.class));
  }

  static SaleArchiver archiver(ArchiveTable table, ArchiveSteps steps) {
    return archiver(table, steps, consumer.bean(SaleArchiver.class).jdbc());
  }

  static SaleArchiver archiver(ArchiveTable table, ArchiveSteps steps, JdbcClient jdbc) {
    SaleArchiver real = consumer.bean(SaleArchiver.class);
    return new SaleArchiver(
        table,
        real.rest(),
        steps,
        real.sales(),
        real.pools(),
        jdbc,
        real.transactions(),
        real.pace());
  }

  /** The service's own round may hold the lock. */
  static void roundUntil(SaleArchiver archiver, Callable<Boolean> done) {
    eventually()
        .until(
            () -> {
              archiver.round();
              return done.call();
            });
  }

  static void begin(long sku) {
    Answer begun = archive(sku);
    assertThat(begun.status()).as(begun.text()).isEqualTo(200);
  }

  static long locked(JdbcClient server, long thread) {
    String status =
        server
            .sql("SHOW ENGINE INNODB STATUS")
            .query((row, number) -> row.getString("Status"))
            .single();
    Matcher found = Pattern.compile(LOCKED.formatted(thread)).matcher(status);
    assertThat(found.find()).as(status).isTrue();
    return Long.parseLong(found.group(1));
  }

  /** While the lock is held the service's own rounds move nothing. */
  static RunLock onlyByTheTest() {
    SaleArchiver service = consumer.bean(SaleArchiver.class);
    return eventually()
        .until(
            () -> RunLock.take(service.pools().reconciliation(), "archive", Duration.ofMinutes(2)),
            Optional::isPresent)
        .orElseThrow();
  }

  long rows(String table) {
    return rows(table, sku);
  }

  static long rows(String table, long sku) {
    return consumer.number("SELECT COUNT(*) FROM " + table + " WHERE sku_id = ?", sku);
  }

  void close() {
    close(sku);
  }

  static void close(long sku) {
    Answer closed =
        consumer.api().post("/internal/v1/skus/" + sku + "/state", "{\"state\":\"CLOSED\"}");
    assertThat(closed.status()).as(closed.text()).isEqualTo(200);
  }

  Answer archive() {
    return archive(sku);
  }

  static Answer archive(long sku) {
    return consumer.api().post("/internal/v1/skus/" + sku + "/archive");
  }

  void finish() {
    finish(sku);
  }

  /** Continues to the end, without the wait for gateways: there are none. */
  static void finish(long sku) {
    consumer.update("UPDATE archive SET started_at = started_at - INTERVAL 1 MINUTE");
    eventually()
        .until(
            () -> {
              consumer.bean(SaleArchiver.class).round();
              return archive(sku).text("phase").equals("DONE");
            });
  }

  JsonNode ledger() {
    return consumer.api().get("/internal/v1/skus/" + sku + "/ledger").body();
  }

  JsonNode audit() {
    return consumer.api().post("/internal/v1/skus/" + sku + "/audit", "{}").body();
  }
}
