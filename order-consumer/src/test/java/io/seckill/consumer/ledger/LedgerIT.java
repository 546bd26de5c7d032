package io.seckill.consumer.ledger;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.intake.DeliveriesInHand;
import io.seckill.consumer.ledger.BrokerBalanceItems.UnackedBoard;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.SaleInFlight;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.LoggedLines;
import io.seckill.testing.RedisServer;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.context.Lifecycle;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementCreator;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import redis.clients.jedis.UnifiedJedis;
import tools.jackson.databind.JsonNode;

/**
 * The conservation equation at every stage of an order, and its differences when an order or units
 * are lost.
 */
@ExtendWith(TestServers.class)
class LedgerIT {

  /**
   * Each test's SKU is in another partition, so that what one test loses is not missing in another
   * test.
   */
  private static final AtomicLong NEXT_SKU = new AtomicLong(16_000);

  @AutoClose private static final TestConsumer consumer = TestConsumer.start();
  @AutoClose private static final OrderFlood flood = new OrderFlood(consumer.vhost());

  private final long sku = NEXT_SKU.getAndIncrement();

  @Test
  void followsAnOrderFromTheShelfToItsPayment() {
    SaleInFlight sale = SaleInFlight.open(sku, 10, consumer, flood);
    assertThat(balanced().at("/units/stock").longValue()).isEqualTo(10);

    OrderMessage order = sale.order(7, 3);
    sale.admit(order);
    JsonNode admitted = balanced();
    assertThat(admitted.at("/units/stock").longValue()).isEqualTo(7);
    assertThat(admitted.at("/units/outboxAndPrivateQueues").longValue()).isEqualTo(3);
    assertThat(admitted.at("/orders/outboxAndPrivateQueues").longValue()).isEqualTo(1);
    assertThat(admitted.at("/partition/outbox").longValue()).isEqualTo(1);

    sale.claim(1);
    assertThat(balanced().at("/partition/deadPrivateQueues").longValue()).isEqualTo(1);
    sale.lease(Duration.ofMinutes(4));
    assertThat(balanced().at("/partition/deadPrivateQueues").longValue()).isZero();
    sale.lease(Duration.ofHours(1)); // longer than any lease: clock was set back after the grant
    assertThat(balanced().at("/partition/deadPrivateQueues").longValue()).isEqualTo(1);

    sale.publish(order);
    awaitUnits("confirmed", 3);

    assertThat(post(order, "payment").status()).isEqualTo(200);
    awaitUnits("paid", 3);
  }

  /** Of ten, by user 7. */
  private OrderMessage threeUnitsStored() {
    SaleInFlight sale = SaleInFlight.open(sku, 10, consumer, flood);
    OrderMessage order = sale.order(7, 3);
    sale.admit(order);
    sale.claim(1);
    sale.publish(order);
    awaitUnits("confirmed", 3);
    return order;
  }

  @Test
  void followsAnOrderBackToTheShelf() {
    OrderMessage order = threeUnitsStored();

    assertThat(post(order, "cancel").status()).isEqualTo(200);

    awaitUnits("stock", 10);
    assertThat(balanced().at("/orders/cancelled").longValue()).isEqualTo(1);
  }

  @Test
  void countsUnitsThatRedisHasNotTakenBackYet() {
    OrderMessage order = threeUnitsStored();
    consumer.redis().hset(RedisKeys.sku(sku), "expiresAt", "unreadable"); // blocks compensations

    assertThat(post(order, "cancel").status()).isEqualTo(200);
    JsonNode compensating = balanced();
    assertThat(compensating.at("/units/stock").longValue()).isEqualTo(7);
    assertThat(compensating.at("/units/compensating").longValue()).isEqualTo(3);

    consumer.redis().hset(RedisKeys.sku(sku), "expiresAt", "2082931200000");
    awaitUnits("stock", 10);
  }

  @Test
  void balancesWithARejectedOrder() {
    SaleInFlight sale = SaleInFlight.open(sku, 200, consumer, flood);
    OrderMessage first = sale.order(7, 100);
    OrderMessage tooMuch = sale.order(7, 1);
    sale.admit(first, tooMuch);
    sale.claim(2);
    sale.publish(first, tooMuch);

    awaitUnits("confirmed", 100);
    awaitUnits("stock", 100);
    assertThat(balanced().at("/orders/rejected").longValue()).isEqualTo(1);
  }

  @Test
  void countsADeadLetterUntilItIsDiscarded() {
    SaleInFlight sale = SaleInFlight.open(sku, 10, consumer, flood);
    OrderMessage order = OrderFlood.order(sku, PurchasePolicy.UNLIMITED, 7, 3);
    sale.admit(order);
    sale.claim(1);
    sale.publish(order); // its policy is not that of the product

    awaitUnits("deadLetters", 3);
    assertThat(balanced().at("/orders/deadLetters").longValue()).isEqualTo(1);
  }

  @Test
  void balancesWhileStockIsAddedAndWithdrawn() {
    SaleInFlight.open(sku, 10, consumer, flood);
    change("more-units", 5);
    change("less-units", -3);

    JsonNode ledger = balanced();

    assertThat(ledger.at("/units/initial").longValue()).isEqualTo(10);
    assertThat(ledger.at("/units/added").longValue()).isEqualTo(5);
    assertThat(ledger.at("/units/withdrawn").longValue()).isEqualTo(3);
    assertThat(ledger.at("/units/stock").longValue()).isEqualTo(12);
  }

  @Test
  void countsAnAdditionThatRedisDoesNotHaveYet() {
    SaleInFlight.open(sku, 10, consumer, flood);
    consumer.redis().hset(RedisKeys.sku(sku), "expiresAt", "unreadable"); // blocks stock changes
    consumer.api().changeStock(sku, "more-units", 5);

    JsonNode ledger = balanced();
    assertThat(ledger.at("/units/changing").longValue()).isEqualTo(5);
    assertThat(ledger.at("/units/stock").longValue()).isEqualTo(10);
  }

  /** As processes leave them that end between the stores; MySQL will refuse the last one. */
  @Test
  void countsTheUnitsOfChangesThatOneStoreAloneHas() {
    SaleInFlight.open(sku, 10, consumer, flood);
    consumer.redis().hset(RedisKeys.sku(sku), "expiresAt", "unreadable"); // blocks stock changes
    begin("taken-in-redis", -3, "PENDING", "1:-3:A");
    begin("undone", -2, "UNDOING", "1:-2:U");
    begin("added", 5, "MYSQL_DONE", "1:5:A");
    begin("added-to-an-earlier-epoch", 6, "MYSQL_DONE", "0:6:A");
    begin("not-begun", 2_000_000_000, "PENDING", "");
    begin("loaded-since", 4, "MYSQL_DONE", "");
    consumer.update("UPDATE stock_change SET epoch = 0 WHERE change_id = 'loaded-since'");
    for (String column : List.of("stock", "initial_stock")) {
      consumer.update(
          "UPDATE products SET %1$s = %1$s + 5 + 6 + 4 WHERE sku_id = ?".formatted(column), sku);
    }
    consumer.redis().incrBy(RedisKeys.stock(sku), -3 + 5 + 4);

    SkuLedger ledger = read(List.of(sku)).get(0);

    assertThat(ledger.units().changing()).as(ledger.toString()).isEqualTo(3 + 6);
    assertThat(ledger.balanced()).as(ledger.toString()).isTrue();
  }

  private void begin(String id, long delta, String state, String outcome) {
    consumer.update(
        "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)"
            + " VALUES (?, ?, ?, '', '', 1, ?)",
        sku,
        id,
        delta,
        state);
    consumer.redis().hset(RedisKeys.stockChanges(sku), id, outcome);
  }

  @Test
  void saysSinceWhenAnOrderIsMissingFromTheOutboxAndThatItIsBack() {
    SaleInFlight sale = SaleInFlight.open(sku, 10, consumer, flood);
    sale.admit(sale.order(7, 3));
    String lost = consumer.redis().rpop(sale.outbox());

    JsonNode first = read();
    assertThat(first.path("balanced").booleanValue()).isFalse();
    assertThat(first.at("/partition/difference").longValue()).isEqualTo(1);
    Instant since = Instant.parse(first.path("unbalancedSince").stringValue());
    JsonNode later = readAfter(first);
    assertThat(Instant.parse(later.path("unbalancedSince").stringValue())).isEqualTo(since);

    consumer.redis().rpush(sale.outbox(), lost);
    assertThat(balanced().path("unbalancedSince").isNull()).isTrue();
  }

  @Test
  void knowsSinceWhenASaleIsOffThatIsOverAndNotReadByItselfAnyMore() {
    SaleInFlight.open(sku, 10, consumer, flood);
    consumer.redis().incrBy(RedisKeys.stock(sku), 2);
    consumer.update(
        "UPDATE products SET state = 'CLOSED', opens_at = NOW() - INTERVAL 3 HOUR,"
            + " closes_at = NOW() - INTERVAL 2 HOUR WHERE sku_id = ?",
        sku);
    JsonNode first =
        eventually().until(this::read, ledger -> !ledger.path("balanced").booleanValue());

    consumer.bean(Ledgers.class).refresh();

    JsonNode later = readAfter(first);
    assertThat(later.path("unbalancedSince").stringValue())
        .isEqualTo(first.path("unbalancedSince").stringValue())
        .isNotNull();
  }

  @Tag("proof")
  @Test
  void watchesRunningSalesBeforeClosedAndComingOnes() {
    List<String> rows =
        List.of(
            "OPEN, -1 DAY, 1 DAY",
            "PAUSED, -2 DAY, 1 DAY",
            "CLOSED, -3 HOUR, -1 MINUTE",
            "OPEN, 1 HOUR, 2 DAY", // opened ahead of its time
            "PREHEATED, 1 DAY, 2 DAY",
            "PREHEATED, 2 DAY, 3 DAY",
            "OPEN, -1 DAY, -2 HOUR"); // nobody closed it, and it is not shown
    List<Long> skus = rows.stream().map(row -> NEXT_SKU.getAndIncrement()).toList();
    for (int i = rows.size() - 1; i >= 0; i--) {
      SaleInFlight.open(skus.get(i), 10, consumer, flood);
      String[] row = rows.get(i).split(", ", -1);
      consumer.update(
          "UPDATE products SET state = '%s', opens_at = NOW() + INTERVAL %s, closes_at = NOW() + INTERVAL %s WHERE sku_id = %d"
              .formatted(row[0], row[1], row[2], skus.get(i)));
    }

    List<Long> watched = consumer.bean(DatabaseBalanceItems.class).watched(1_000);

    List<Long> shown = skus.subList(0, 6);
    assertThat(watched.stream().filter(skus::contains)).containsExactlyElementsOf(shown);
    assertThat(watched.subList(watched.size() - 3, watched.size()))
        .containsExactlyElementsOf(skus.subList(3, 6));
    skus.forEach(
        each ->
            consumer.update(
                "UPDATE products SET state = 'CLOSED', closes_at = NOW() - INTERVAL 1 DAY WHERE"
                    + " sku_id = ?",
                each));
  }

  private static double ageSeconds(long skuId) {
    return consumer
        .bean(MeterRegistry.class)
        .get("seckill.ledger.age.seconds")
        .tag("sku", Long.toString(skuId))
        .gauge()
        .value();
  }

  @Test
  void readsTheOtherQueuesWhenMySqlCannotReadOne() {
    long other = NEXT_SKU.getAndIncrement();
    boolean first = LedgerReader.queueOf(sku) < LedgerReader.queueOf(other);
    long unreadable = first ? sku : other;
    long readable = first ? other : sku;
    SaleInFlight.open(sku, 10, consumer, flood);
    SaleInFlight.open(other, 10, consumer, flood);
    for (String change : List.of("a", "b")) { // their sum fits no long
      consumer.update(
          "INSERT INTO stock_change (sku_id, change_id, delta, reason, operator, epoch, state)"
              + " VALUES (?, ?, 9000000000000000000, '', '', 1, 'DONE')",
          unreadable,
          change);
    }

    LoggedLines lines = LoggedLines.of(Ledgers.class);
    consumer.bean(Ledgers.class).refresh();
    consumer.bean(Ledgers.class).refresh();
    lines.close();

    assertThat(lines.events()).as("lines of failures that repeat").hasSizeLessThan(2);
    assertThatThrownBy(() -> read(List.of(unreadable))).isInstanceOf(DataAccessException.class);
    assertThat(consumer.bean(Ledgers.class).latest())
        .extracting(SkuLedger::skuId)
        .contains(readable);
    eventually()
        .untilAsserted(
            () -> {
              consumer.bean(Ledgers.class).refresh();
              double before = ageSeconds(readable); // both grow
              assertThat(ageSeconds(unreadable)).isGreaterThan(before + 1);
            });
    consumer.update("DELETE FROM stock_change WHERE sku_id = ?", unreadable);
  }

  private static long another(LongPredicate fits) {
    return LongStream.generate(NEXT_SKU::getAndIncrement).filter(fits).findFirst().getAsLong();
  }

  @Test
  void aForeignValueOfASkuUnbalancesNoOtherLedger() {
    long other = another(id -> LedgerReader.queueOf(id) == LedgerReader.queueOf(sku));
    String stock = RedisKeys.stock(sku);
    SaleInFlight.open(sku, 10, consumer, flood);
    SaleInFlight.open(other, 10, consumer, flood);

    consumer.redis().set(stock, "abc");
    consumer.bean(Ledgers.class).refresh();
    assertThat(balancedOf(sku, other)).containsExactly(false, true);

    consumer.redis().del(stock);
    consumer.redis().lpush(stock, "abc");
    assertThat(balancedOf(sku, other)).containsExactly(false, true);

    consumer.redis().del(RedisKeys.sku(sku), stock);
    consumer.redis().lpush(RedisKeys.sku(sku), "abc");
    assertThat(balancedOf(sku, other)).containsExactly(false, true);
    consumer.redis().del(RedisKeys.sku(sku));
  }

  private static List<Boolean> balancedOf(long one, long other) {
    Map<Long, Boolean> balanced =
        read(List.of(one, other)).stream()
            .collect(Collectors.toMap(SkuLedger::skuId, SkuLedger::balanced));
    return List.of(balanced.get(one), balanced.get(other));
  }

  /** Of one queue. */
  private static List<SkuLedger> read(List<Long> skus) {
    LedgerReader reader = consumer.bean(LedgerReader.class);
    return reader.read(reader.read(LedgerReader.queueOf(skus.get(0))), skus, (id, e) -> {});
  }

  @Test
  void readsTheOtherPartitionsOfAQueueWhenOneCannotBeRead() {
    long other =
        another(
            id ->
                LedgerReader.queueOf(id) == LedgerReader.queueOf(sku)
                    && Partition.ofSku(id) != Partition.ofSku(sku));
    String prefix = RedisKeys.prefix(Partition.ofSku(sku));
    SaleInFlight.open(sku, 10, consumer, flood);
    SaleInFlight.open(other, 10, consumer, flood);
    consumer.redis().zadd(prefix + "lanes", 1, "foreign");
    consumer.redis().set(prefix + "lane:foreign", "abc");

    consumer.bean(Ledgers.class).refresh();

    assertThat(consumer.bean(Ledgers.class).latest())
        .extracting(SkuLedger::skuId)
        .contains(other)
        .doesNotContain(sku);
    assertThat(consumer.api().get(path() + "/ledger").status()).isEqualTo(503);
    JsonNode read = consumer.api().get("/internal/v1/skus/" + other + "/ledger").body();
    assertThat(read.path("balanced").booleanValue()).as("%s", read).isTrue();
    assertThat(read.path("queue").isNull()).as("%s", read).isTrue();
    consumer.redis().del(prefix + "lane:foreign");
    consumer.redis().zrem(prefix + "lanes", "foreign");
  }

  @Test
  void anUnreadableStockChangeHidesTheLedgerOfItsSkuOnly() {
    long other = another(id -> LedgerReader.queueOf(id) == LedgerReader.queueOf(sku));
    SaleInFlight.open(sku, 10, consumer, flood);
    SaleInFlight.open(other, 10, consumer, flood);
    consumer.redis().hset(RedisKeys.sku(sku), "expiresAt", "unreadable"); // blocks stock changes
    consumer.api().changeStock(sku, "more-units", 5);
    consumer.redis().del(RedisKeys.stockChanges(sku));
    consumer.redis().set(RedisKeys.stockChanges(sku), "abc");

    consumer.bean(Ledgers.class).refresh();

    assertThat(consumer.bean(Ledgers.class).latest())
        .extracting(SkuLedger::skuId)
        .contains(other)
        .doesNotContain(sku);
    consumer.redis().del(RedisKeys.stockChanges(sku));
  }

  @Test
  void findsUnitsThatNobodyPutOnTheShelf() {
    SaleInFlight.open(sku, 10, consumer, flood);
    consumer.redis().incrBy(RedisKeys.stock(sku), 2);

    JsonNode ledger = read();

    assertThat(ledger.at("/units/difference").longValue()).isEqualTo(-2);
    assertThat(ledger.path("balanced").booleanValue()).isFalse();
  }

  /** The SKU's own row, which lacks the units of the shards, is no ledger. */
  @Test
  void aSkuWithShardsIsUnbalancedSinceAReadOfAll() {
    String four = "\"shards\":4,\"stock\"";
    consumer.api().put(path(), Sales.product("ONE_PER_USER", 1, 400).replace("\"stock\"", four));
    consumer.api().post(path() + "/preheat");
    assertThat(read().path("balanced").booleanValue()).isTrue();
    List<JsonNode> atOnce =
        eventually("read at most each half second") // five take longer on a slow machine
            .until(
                () -> Stream.generate(this::read).limit(5).toList(),
                five -> five.stream().map(ledger -> ledger.path("readAt")).distinct().count() < 5);
    String stock = RedisKeys.stock(Shards.id(sku, 2));
    consumer.redis().incrBy(stock, 2);

    JsonNode found = readAfter(atOnce.get(4));
    consumer.redis().decrBy(stock, 2);

    assertThat(found.at("/units/difference").longValue()).isEqualTo(-2);
    assertThat(Instant.parse(found.path("unbalancedSince").stringValue()))
        .isAfter(Instant.parse(atOnce.get(4).path("readAt").stringValue()))
        .isBeforeOrEqualTo(Instant.parse(found.path("readAt").stringValue()));
  }

  @Test
  void theDailyAuditProvesTheTotalsByTheRows() {
    var unused = threeUnitsStored();

    JsonNode made = audit();
    assertThat(made.at("/confirmed/units").longValue()).isEqualTo(3);
    assertThat(made.path("stock").longValue()).isEqualTo(7);
    assertThat(made.path("differences").toString()) // Redis has no record of these orders
        .isEqualTo("[\"Redis: 1 differences, 0 set right. {RECORD_RESTORED=1}\"]");

    consumer.update("DELETE FROM orders WHERE sku_id = ?", sku);
    JsonNode found = audit();

    assertThat(found.path("differences").toString())
        .contains("order_total says 1 orders, 3 units CONFIRMED; its rows are 0, 0")
        .contains("quotas are 3 units; 0 are sold");
    JsonNode listed = consumer.api().get("/internal/v1/audits?limit=1&after=" + (sku - 1)).body();
    assertThat(listed.at("/audits/0")).isEqualTo(found);

    JsonNode check = consumer.api().post("/internal/v1/wallet/check").body();
    assertThat(consumer.api().get("/internal/v1/audits").body().path("wallets")).isEqualTo(check);
  }

  private JsonNode audit() {
    return consumer.api().post(path() + "/audit", "{}").body();
  }

  /** Where all units are found: MySQL and Redis agree on them. */
  @Test
  void eachDifferenceUnbalancesTheLedger() {
    var unused = threeUnitsStored();
    String stock = "UPDATE products SET stock = stock + ? WHERE sku_id = ?";
    String orders =
        "UPDATE order_total SET orders = orders + ? WHERE fate = 'CONFIRMED' AND sku_id = ?";

    consumer.update(stock, -1, sku);
    SkuLedger inMySql = read(List.of(sku)).get(0);
    consumer.update(stock, 1, sku);
    consumer.update(orders, 1, sku);
    SkuLedger ofOrders = read(List.of(sku)).get(0);
    consumer.update(orders, -1, sku);

    assertThat(inMySql.mysql().difference()).isEqualTo(1);
    assertThat(inMySql.balanced()).isFalse();
    assertThat(ofOrders.orders().difference()).isEqualTo(-1);
    assertThat(ofOrders.balanced()).isFalse();
    assertThat(List.of(inMySql.units().difference(), ofOrders.units().difference()))
        .containsOnly(0L);
    assertThat(read(List.of(sku)).get(0).balanced()).isTrue();
  }

  @Test
  void findsAnOrderThatIsNotCounted() {
    var unused = threeUnitsStored();

    consumer.update("DELETE FROM order_total WHERE sku_id = ?", sku);

    JsonNode ledger = readAfter(read());
    assertThat(ledger.at("/orders/difference").longValue()).isEqualTo(1);
    assertThat(ledger.at("/mysql/difference").longValue()).isEqualTo(3);
  }

  @Test
  void findsAnOrderThatTheBrokerHasLost() throws Exception {
    SaleInFlight sale = SaleInFlight.open(sku, 10, consumer, flood);
    OrderMessage order = sale.order(7, 3);
    sale.admit(order);
    sale.claim(1);
    Lifecycle intake = (Lifecycle) consumer.bean(DeliveriesInHand.class);
    intake.stop();
    try (Connection broker = consumer.vhost().connect();
        Channel channel = broker.createChannel()) {
      sale.publish(order);
      JsonNode there = balanced();
      assertThat(there.at("/queue/ready").longValue()).as("%s", there).isEqualTo(1);

      channel.queuePurge(orderQueue());
      channel.basicConsume(orderQueue(), new DefaultConsumer(channel)); // order-consumer is back

      eventually()
          .untilAsserted(
              () -> {
                JsonNode gone = readAnew();
                assertThat(gone.at("/queue/difference").longValue()).isEqualTo(1);
                assertThat(gone.path("balanced").booleanValue()).isFalse();
              });
    } finally {
      intake.start();
    }
    flood.publish(order); // or it would be missing in other ledgers of its queue
    awaitUnits("confirmed", 3);
  }

  /**
   * RabbitMQ then reports an empty queue; with messages of several orders a false loss would stay.
   */
  @Test
  void doesNotTakeAQueueWithoutItsLeaderForEmpty() {
    SaleInFlight sale = SaleInFlight.open(sku, 10, consumer, flood);
    OrderMessage order = sale.order(7, 3);
    sale.admit(order);
    sale.claim(1);
    Lifecycle intake = (Lifecycle) consumer.bean(DeliveriesInHand.class);
    intake.stop();
    try {
      sale.publish(order);
      assertThat(balanced().at("/queue/ready").longValue()).isEqualTo(1);
      consumer.vhost().stopLeader(orderQueue());

      JsonNode unread = readAnew();

      assertThat(unread.path("queue").isNull()).as("%s", unread).isTrue();
      assertThat(unread.path("unbalancedSince").isNull()).as("%s", unread).isTrue();
    } finally {
      consumer.vhost().restartLeader(orderQueue());
      intake.start();
    }
    awaitUnits("confirmed", 3);
  }

  private String orderQueue() {
    return BrokerTopology.orderQueue(LedgerReader.queueOf(sku));
  }

  @Tag("proof")
  @Test
  void seesWhatAnotherConsumerHoldsUnacked() {
    SaleInFlight sale = SaleInFlight.open(sku, 10, consumer, flood);
    OrderMessage order = sale.order(7, 3);
    sale.admit(order);
    sale.claim(1);
    try (TestConsumer spare = consumer.another(Map.of());
        RowLock held = consumer.lockProduct(sku)) {
      sale.publish(order); // storing it waits for the lock

      eventually()
          .untilAsserted(
              () -> {
                JsonNode seen = spare.api().get(path() + "/ledger").body();
                assertThat(seen.at("/queue/unacked").longValue()).as("%s", seen).isEqualTo(1);
                assertThat(seen.at("/units/broker").longValue()).isEqualTo(3);
                assertThat(seen.path("balanced").booleanValue()).as("%s", seen).isTrue();
              });
      held.release();
    }
    awaitUnits("confirmed", 3);
  }

  @Test
  void theNumberAnotherConsumerHoldsIsUnknownWhereRedisTakesNoWrites() {
    try (RedisServer server = RedisServer.start();
        UnifiedJedis redis = server.open()) {
      UnackedBoard holder = new UnackedBoard(() -> Map.of("a", 3L), redis);
      UnackedBoard other = new UnackedBoard(Map::of, redis);
      assertThat(other.unacked("a")).contains(0L);

      redis.configSet("min-replicas-to-write", "1");
      holder.post();
      assertThat(other.unacked("a")).isEmpty();
      redis.configSet("min-replicas-to-write", "0");
      redis.configSet("maxmemory", "1");
      holder.post();
      assertThat(other.unacked("a")).isEmpty();
      redis.configSet("maxmemory", "0");

      assertThat(other.unacked("a")).contains(0L);
      eventually() // it is kept for two seconds
          .untilAsserted(
              () -> {
                holder.post();
                assertThat(redis.get(RedisKeys.unacked("a"))).startsWith("3:");
              });
    }
  }

  @Test
  void readsRedisOnceForTheLedgersOfAQueueThatAreReadTogether() {
    List<Long> skus =
        LongStream.generate(
                () -> another(id -> LedgerReader.queueOf(id) == LedgerReader.queueOf(sku)))
            .limit(12)
            .boxed()
            .toList();
    skus.forEach(each -> SaleInFlight.open(each, 10, consumer, flood));
    Ledgers ledgers = consumer.bean(Ledgers.class);
    long before = readsOfPartitions();

    List<SkuLedger> read = skus.parallelStream().map(ledgers::of).toList();

    assertThat(read).allMatch(SkuLedger::balanced);
    assertThat(readsOfPartitions() - before).as("48 if each reads alone").isLessThanOrEqualTo(40);
  }

  @Test
  void readsMySqlAtOneMoment() {
    SaleInFlight.open(sku, 10, consumer, flood);
    AtomicInteger queries = new AtomicInteger();
    JdbcTemplate selling =
        new JdbcTemplate(consumer.bean(DataSource.class)) {
          @Override
          public void query(PreparedStatementCreator statement, RowCallbackHandler each) {
            super.query(statement, each);
            if (queries.incrementAndGet() == 1) {
              consumer.asRoot("UPDATE products SET stock = 9 WHERE sku_id = " + sku);
            }
          }
        };
    DatabaseBalanceItems mysql =
        new DatabaseBalanceItems(
            JdbcClient.create(selling), consumer.bean(PlatformTransactionManager.class));

    assertThat(mysql.read(List.of(sku)).get(sku).stock()).isEqualTo(10);

    assertThat(consumer.product(sku, "stock")).isEqualTo("9");
    consumer.update("UPDATE products SET stock = 10 WHERE sku_id = ?", sku);
  }

  /** Each reading of a partition has one. */
  private static long readsOfPartitions() {
    String stats = (String) consumer.redis().eval("return redis.call('INFO', 'commandstats')");
    Matcher calls = Pattern.compile("cmdstat_smembers:calls=(\\d+)").matcher(stats);
    return calls.find() ? Long.parseLong(calls.group(1)) : 0;
  }

  @Test
  void doesNotKnowASkuThatMySqlDoesNotKnow() {
    Answer answer = consumer.api().get("/internal/v1/skus/987654321/ledger");

    assertThat(answer.status()).isEqualTo(404);
    assertThat(answer.code()).isEqualTo("UNKNOWN_SKU");
  }

  private String path() {
    return "/internal/v1/skus/" + sku;
  }

  private JsonNode read() {
    Answer answer = consumer.api().get(path() + "/ledger");
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    return answer.body();
  }

  /** Operators get the last reading again within half a second. */
  private JsonNode readAnew() {
    var unused = consumer.bean(Ledgers.class).waiting(sku);
    return read();
  }

  /** Returns a reading that was made later than the given one. */
  private JsonNode readAfter(JsonNode earlier) {
    return eventually()
        .until(
            this::readAnew,
            now -> !now.path("readAt").stringValue().equals(earlier.path("readAt").stringValue()));
  }

  private JsonNode balanced() {
    JsonNode first = read();
    return eventually()
        .until(() -> readAfter(first), ledger -> ledger.path("balanced").booleanValue());
  }

  private void awaitUnits(String term, long units) {
    eventually()
        .untilAsserted(
            () -> {
              JsonNode ledger = readAnew();
              assertThat(ledger.at("/units/" + term).longValue()).as("%s", ledger).isEqualTo(units);
              assertThat(ledger.path("balanced").booleanValue()).as("%s", ledger).isTrue();
            });
  }

  private static Answer post(OrderMessage order, String action) {
    return consumer
        .api()
        .post(
            "/internal/v1/orders/" + order.orderId() + "/" + action,
            "{\"userId\":" + order.userId() + "}");
  }

  private void change(String key, int delta) {
    Answer answer = consumer.api().changeStock(sku, key, delta);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
  }
}
