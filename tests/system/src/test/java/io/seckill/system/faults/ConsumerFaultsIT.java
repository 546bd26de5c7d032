package io.seckill.system.faults;

import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.common.redis.RedisKeys;
import io.seckill.system.agent.inside.PointAction;
import io.seckill.system.guarantee.Explained;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.ShopClient;
import io.seckill.testing.Bounded;
import io.seckill.testing.Rows;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Faults of consumers, and of the messages they receive. */
@ExtendWith({TestServers.class, FaultLabExtension.class})
class ConsumerFaultsIT {

  /** The bound that docs/operations.md promises. */
  private static final Duration FROM_FREEZE_TO_DRAINED = Duration.ofSeconds(60);

  private static final Map<String, String> RECONCILING_SOON =
      Map.of("SECKILL_RECONCILIATION_INTERVAL", "1s");
  private static final String REJECTED =
      "SELECT COUNT(*) FROM orders WHERE reason = 'QUOTA_EXCEEDED' AND sku_id = ";

  private static final String STORED = "SELECT COUNT(*) FROM orders WHERE order_id = ";

  private final FaultLab lab;

  ConsumerFaultsIT(FaultLab lab) {
    this.lab = lab;
  }

  @Tag("proof")
  @Test
  @DisplayName("23: consumer killed before COMMIT")
  void killedBeforeCommit() {
    haltsAt("23 consumer killed before COMMIT", Failpoints.BEFORE_COMMIT);
  }

  @Test
  @DisplayName("23: consumer killed between the compensation of a cancelled order and its mark")
  void killedBetweenCompensationAndItsMark() {
    // Shoppers cancel at the first gateway first, which calls the first consumer.
    haltsAt(
        "23 consumer killed between a compensation and its mark",
        Failpoints.COMPENSATED_NOT_MARKED,
        () -> lab.consumer(1));
  }

  private void haltsAt(String row, String point) {
    haltsAt(row, point, lab::activeConsumer);
  }

  private void haltsAt(String row, String point, Supplier<ServiceInstance> chosen) {
    try (FaultRun run = lab.run(row).begin(100)) {
      ServiceInstance consumer = chosen.get();
      consumer.agent().arm(point, PointAction.HALT, 2);
      consumer.awaitDeathAt(point);
      run.fault(consumer.name() + " killed at " + point);
      run.judge();
    }
  }

  /**
   * Redis lets shoppers buy more than their limit, so MySQL rejects orders. One consumer dies after
   * it has written results to Redis and before it has compensated the orders, the other after it
   * has compensated orders and before it has marked them. The second to die receives the first
   * one's orders again.
   */
  @Tag("proof")
  @Test
  @DisplayName(
      "23: consumers killed between a rejected order's result, its compensation and its mark")
  void killedBetweenResultCompensationAndItsMark() throws Exception {
    Map<ServiceInstance, String> points =
        Map.of(
            lab.consumer(1), Failpoints.NOTIFIED_NOT_COMPENSATED,
            lab.consumer(2), Failpoints.COMPENSATED_NOT_MARKED);
    try (FaultRun run = lab.run("23 consumers killed around a compensation")) {
      SaleOffer sale = run.sale(1);
      lab.redis().hset(RedisKeys.sku(sale.skuId()), "limit", "100");
      points.forEach((consumer, point) -> consumer.agent().arm(point, PointAction.HALT, 1));
      // The first batch contains orders to reject, before shoppers can cancel theirs.
      lab.consumers().forEach(consumer -> consumer.links().rabbit().cut());
      run.begin(400);
      lab.consumers().forEach(consumer -> consumer.links().rabbit().heal());
      points.forEach(
          (consumer, point) -> {
            consumer.awaitDeathAt(point);
            run.fault(consumer.name() + " killed at " + point);
          });
      for (ServiceInstance consumer : lab.consumers()) {
        consumer.restart(RECONCILING_SOON); // it lowers the excessive quotas in Redis
      }
      // Both sweep and reconcile two seconds after their starts, what was left much longer ago.
      run.judge(
          Explained.NOTHING
              .withRejections("QUOTA_EXCEEDED")
              .withRepairs("QUOTA_SET", "COMPENSATION_REPLAYED"));
      assertThat(lab.database().number(REJECTED + sale.skuId()))
          .as("orders over quota")
          .isPositive();
    }
  }

  /**
   * To RabbitMQ and MySQL this looks like a host that has lost power: its connections stay open,
   * and no peer answers. The standby consumer needs the rows that the open transaction has locked.
   */
  @Tag("proof")
  @Test
  @DisplayName("23: consumer frozen in the middle of a transaction, then awake")
  void frozenInMidTransaction() {
    try (FaultRun run = lab.run("23 consumer frozen in mid-transaction").begin(100)) {
      ServiceInstance consumer = lab.activeConsumer();
      consumer.agent().arm(Failpoints.BEFORE_COMMIT, PointAction.PAUSE, 1);
      consumer.agent().awaitReached(Failpoints.BEFORE_COMMIT, SOON);
      consumer.freeze();
      run.fault(consumer.name() + " frozen with an open transaction");
      run.load().awaitAccepted(run.load().accepted() + 500);
      await("the spare to have drained all queues")
          .atMost(FROM_FREEZE_TO_DRAINED)
          .until(() -> run.waitingInRedis() == 0 && run.inBroker() == 0);
      consumer.thaw();
      consumer.agent().release(Failpoints.BEFORE_COMMIT);
      run.fault(consumer.name() + " awake, with a batch that another one has stored");
      run.judge();
      assertThat(consumer.isAlive()).isTrue();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("25: the threads of an intake meet an Error")
  void threadsMeetAnError() {
    List<String> points =
        List.of(Failpoints.BEFORE_STORE, Failpoints.COMMITTED_NOT_ACKED, Failpoints.BEFORE_ACK);
    try (FaultRun run = lab.run("25 the threads of an intake meet an Error").begin(100)) {
      for (String point : points) {
        // The queue of an intake that ends moves to the other consumer.
        lab.consumers().forEach(consumer -> consumer.agent().arm(point, PointAction.ERROR, 1));
        Signals.await(
            "a consumer to reach " + point,
            () -> lab.consumers().stream().anyMatch(one -> one.agent().hasReached(point)));
        lab.consumers().forEach(consumer -> consumer.agent().release(point));
        run.fault("threads met an Error at " + point);
        run.load().awaitAccepted(run.load().accepted() + 100);
      }
      run.judge();
    }
  }

  @Tag("proof")
  @Test
  @DisplayName("77: consumers killed in the middle of an archive, one after the other")
  void killedInTheMiddleOfAnArchive() {
    String row = "77 consumers killed in the middle of an archive";
    SaleOffer over = lab.newSale();
    Map<String, String> orders = endedOrders(over.skuId(), 20);
    try (FaultRun run = lab.run(row).begin(400)) {
      for (ServiceInstance consumer : lab.consumers()) { // the pages move seconds after the request
        consumer.agent().arm(Failpoints.ARCHIVE_PAGE_MOVED, PointAction.HALT, 1);
      }
      Signals.await(
          "the close", () -> Set.of(200, 202).contains(lab.admin().close(over.skuId()).status()));
      Signals.await(
          "the sale to be at rest", () -> lab.admin().archive(over.skuId()).status() == 200);
      for (int kills = 1; kills <= lab.consumers().size(); kills++) {
        int dead = kills;
        Signals.await(
            kills + " consumers to be killed",
            () -> lab.consumers().stream().filter(one -> !one.isAlive()).count() == dead);
        assertThat(inHistory(over.skuId())).as("moved by a page that was cut off").isZero();
        run.fault(kills + " consumers killed at " + Failpoints.ARCHIVE_PAGE_MOVED);
      }
      lab.consumers().forEach(ServiceInstance::restart);
      lab.consumers().forEach(ServiceInstance::awaitReady);
      Signals.await(
          "the archive to be done",
          () -> lab.admin().archive(over.skuId()).text("phase").equals("DONE"));
      checkArchived(over.skuId(), orders);
      run.judge();
    }
  }

  /** Buys and cancels; returns the ids of the orders by their keys. */
  private Map<String, String> endedOrders(long sku, int number) {
    ShopClient shop = lab.shops().get(0);
    Map<String, String> orders = new HashMap<>();
    for (int user = 1; user <= number; user++) {
      String key = "archived-" + user;
      orders.put(key, shop.buy(user, sku, 1, key).text("orderId"));
    }
    for (int user = 1; user <= number; user++) {
      int owner = user;
      String order = orders.get("archived-" + user);
      Signals.await(
          "order " + order + " to be cancelled", () -> shop.cancel(owner, order).status() == 200);
    }
    return orders;
  }

  @Tag("proof")
  @Test
  @DisplayName("78: consumers killed in the middle of a rebuild, one after the other")
  void killedInTheMiddleOfARebuild() {
    SaleOffer sale = lab.newSale();
    Map<String, String> orders = endedOrders(sale.skuId(), 20);
    ShopClient shop = lab.shops().get(0);
    String bought = shop.buy(99, sale.skuId(), 2, "before-the-loss").text("orderId");
    try (FaultRun run = lab.run("78 consumers killed in the middle of a rebuild").begin(400)) {
      awaitStatus(shop, 99, bought, "CONFIRMED");
      for (ServiceInstance consumer : lab.consumers()) {
        consumer.agent().arm(Failpoints.SALE_LOADED, PointAction.HALT, 1);
      }
      lab.redis().del(RedisKeys.sku(sale.skuId()), RedisKeys.stock(sale.skuId()));
      for (int kills = 1; kills <= lab.consumers().size(); kills++) {
        int dead = kills;
        Signals.await(
            kills + " consumers to be killed",
            () -> {
              lab.admin().reconcile(sale.skuId());
              return lab.consumers().stream().filter(one -> !one.isAlive()).count() == dead;
            });
        run.fault(kills + " consumers killed at " + Failpoints.SALE_LOADED);
        assertThat(lab.redis().hget(RedisKeys.sku(sale.skuId()), "state")).isEqualTo("PREHEATING");
        assertThat(Bounded.get(shop.buyAsync(1, sale.skuId(), 1, "half-loaded-" + kills)).status())
            .isEqualTo(503);
      }
      lab.consumers().forEach(ServiceInstance::restart);
      lab.consumers().forEach(ServiceInstance::awaitReady);
      Signals.await(
          "the rebuild to be done",
          () -> "OPEN".equals(lab.redis().hget(RedisKeys.sku(sale.skuId()), "state")));
      awaitStatus(shop, 99, bought, "CONFIRMED");
      assertThat(lab.redis().get(RedisKeys.stock(sale.skuId())))
          .isEqualTo(Long.toString(sale.stock() - 2));
      Signals.await(
          "a repeat of the key to be answered",
          () -> shop.buy(99, sale.skuId(), 2, "before-the-loss").text("orderId").equals(bought));
      orders.forEach(
          (key, order) -> assertThat(lab.database().number(STORED + order)).as(key).isEqualTo(1));
      assertAddsUp(sale.skuId());
      run.judge();
    }
  }

  private void assertAddsUp(long sku) {
    Signals.await(
        "the ledger to balance",
        () -> lab.admin().ledger(sku).json().path("balanced").booleanValue());
    assertThat(lab.admin().audit(sku).json().path("differences")).isEmpty();
  }

  /** A busy gateway answers 503. */
  private static void awaitStatus(ShopClient shop, long user, String order, String status) {
    Signals.await(
        "order " + order + " to be " + status,
        () -> shop.order(user, order).text("status").equals(status));
  }

  @Tag("proof")
  @Test
  @Timeout(value = 25, unit = TimeUnit.MINUTES)
  @DisplayName("79: consumers killed in the middle of a daily audit, one after the other")
  void killedInTheMiddleOfADailyAudit() {
    awaitThatNoDayBegins();
    try (FaultRun run = lab.run("79 consumers killed in the middle of a daily audit").begin(100)) {
      List<SaleOffer> due = Stream.generate(lab::plenty).limit(4).toList();
      due.forEach(lab::open);
      for (ServiceInstance consumer : lab.consumers()) {
        consumer.agent().arm(Failpoints.AUDIT_NOT_STORED, PointAction.HALT, 2);
      }
      String opened = "UPDATE products SET opens_at = opens_at - INTERVAL 2 DAY WHERE sku_id IN ";
      lab.database().execute(opened + skus(due)); // all become due at once, as when a day begins
      Set<String> made = new HashSet<>();
      for (int kills = 1; kills <= lab.consumers().size(); kills++) {
        int dead = kills;
        Signals.await(
            kills + " consumers to be killed",
            () -> lab.consumers().stream().filter(one -> !one.isAlive()).count() == dead);
        run.fault(kills + " consumers killed at " + Failpoints.AUDIT_NOT_STORED);
        assertThat(audits(due)).as("the audit that was cut off is not stored").hasSize(kills);
        assertThat(audits(due)).as("made before").containsAll(made);
        made.addAll(audits(due));
      }
      lab.consumers().forEach(ServiceInstance::restart);
      lab.consumers().forEach(ServiceInstance::awaitReady);
      Signals.await("all to be audited", () -> audits(due).size() == due.size());
      assertThat(audits(due)).as("none is made again").containsAll(made);
      due.forEach(sale -> assertAddsUp(sale.skuId()));
      run.judge();
    }
  }

  /** At 03:00 UTC all sales of the lab become due; the row takes minutes. */
  private static void awaitThatNoDayBegins() {
    eventually("the audits of the day that begins")
        .atMost(Duration.ofMinutes(14))
        .pollInterval(Duration.ofSeconds(1))
        .until(
            () -> {
              LocalTime now = LocalTime.now(ZoneOffset.UTC);
              return now.isBefore(LocalTime.of(2, 52)) || now.isAfter(LocalTime.of(3, 4));
            });
  }

  /** SKU and time of each audit that is made of these sales. */
  private Set<String> audits(List<SaleOffer> sales) {
    return new HashSet<>(
        lab.database()
            .rows(
                "SELECT CONCAT(sku_id, ' ', made_at) FROM daily_audit WHERE sku_id IN "
                    + skus(sales),
                row -> row.getString(1)));
  }

  private static String skus(List<SaleOffer> sales) {
    return sales.stream()
        .map(sale -> Long.toString(sale.skuId()))
        .collect(Collectors.joining(", ", "(", ")"));
  }

  private long inHistory(long sku) {
    return lab.database().number("SELECT COUNT(*) FROM order_history WHERE sku_id = " + sku);
  }

  /** Each order is in the history, once, and known to its shopper; the sale adds up. */
  private void checkArchived(long sku, Map<String, String> orders) {
    assertThat(inHistory(sku)).isEqualTo(orders.size());
    assertThat(lab.database().number("SELECT COUNT(*) FROM orders WHERE sku_id = " + sku)).isZero();
    assertThat(lab.redis().exists(RedisKeys.sku(sku), RedisKeys.stock(sku))).isZero();
    assertAddsUp(sku);
    ShopClient shop = lab.shops().get(0);
    for (int user = 1; user <= orders.size(); user++) {
      String key = "archived-" + user;
      String order = orders.get(key);
      awaitStatus(shop, user, order, "CANCELLED");
      assertThat(shop.buy(user, sku, 1, key).text("orderId")).isEqualTo(order);
    }
    assertThat(shop.buy(1, sku, 1, "archived-new").code()).isEqualTo("CLOSED");
  }

  @Tag("proof")
  @Test
  @DisplayName("29: COMMIT outcome unknown: its answer is lost, and then the COMMIT itself")
  void commitOutcomeUnknown() throws SQLException {
    try (FaultRun run = lab.run("29 COMMIT outcome unknown").begin(100)) {
      ServiceInstance consumer = lab.activeConsumer();
      lab.consumers().stream()
          .filter(other -> other != consumer)
          .forEach(other -> other.links().rabbit().cut()); // so that one consumer stores all orders
      TcpProxy link = consumer.links().mysql();

      double known = sum("seckill_consumer_duplicates_total");
      Set<Long> batch = losesACommit(consumer, link, () -> link.dropToClient(true));
      Signals.await("a batch to be committed all the same", () -> intersect(batch, stored()));
      link.reset();
      run.fault("answer to a COMMIT of " + consumer.name() + " lost");
      link.heal();
      Signals.await(
          "the batch to be found stored", () -> sum("seckill_consumer_duplicates_total") > known);

      Set<Long> undone = losesACommit(consumer, link, () -> link.dropToServer(true));
      link.reset();
      Signals.await("MySQL to roll back", () -> uncommitted().isEmpty());
      undone.removeAll(stored());
      assertThat(undone).as("orders that were rolled back").isNotEmpty();
      run.fault("COMMIT of " + consumer.name() + " lost");
      link.heal();
      Signals.await("the batch to be stored again", () -> stored().containsAll(undone));
      run.judge();
    }
  }

  /**
   * Makes a consumer send a COMMIT over a link that drops it, or its reply.
   *
   * @return orders of open transactions: of this one, and of others that the same loss blocks
   */
  private Set<Long> losesACommit(ServiceInstance consumer, TcpProxy link, Runnable loss)
      throws SQLException {
    consumer.agent().arm(Failpoints.BEFORE_COMMIT, PointAction.PAUSE, 1);
    consumer.agent().awaitReached(Failpoints.BEFORE_COMMIT, SOON);
    loss.run();
    Set<Long> open = uncommitted();
    assertThat(open).as("orders in open transactions").isNotEmpty();
    long before = link.droppedBytes();
    consumer.agent().release(Failpoints.BEFORE_COMMIT);
    Signals.await("the link to lose bytes", () -> link.droppedBytes() > before);
    return open;
  }

  private static boolean intersect(Set<Long> some, Set<Long> others) {
    return !Collections.disjoint(some, others);
  }

  /** Orders of open transactions, which only READ UNCOMMITTED sees. */
  private Set<Long> uncommitted() throws SQLException {
    Set<Long> open = orders(Connection.TRANSACTION_READ_UNCOMMITTED);
    open.removeAll(stored());
    return open;
  }

  private Set<Long> stored() throws SQLException {
    return orders(Connection.TRANSACTION_READ_COMMITTED);
  }

  private Set<Long> orders(int isolation) throws SQLException {
    try (Connection mysql = lab.database().connect()) {
      mysql.setTransactionIsolation(isolation);
      return new HashSet<>(Rows.of(mysql, "SELECT order_id FROM orders", row -> row.getLong(1)));
    }
  }

  private double sum(String meter) {
    return ServiceInstance.sum(lab.consumers(), meter);
  }
}
