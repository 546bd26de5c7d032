package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.ShardedSale;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.observability.AlertWatch;
import io.seckill.system.shop.Answer;
import io.seckill.system.shop.ShopClient;
import io.seckill.testing.Bounded;
import io.seckill.testing.LoopDisk;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.Ports;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * Each fault raises its alerts, from the scrape of the running pipeline. A lab of its own, because
 * what the rows leave behind no guarantee allows.
 */
@Tag("proof")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@OnChannel(fallback = "manual")
@ExtendWith({TestServers.class, FaultLabExtension.class})
class AlertFaultsIT {

  private static final Duration QUIET = Duration.ofSeconds(90);
  private static final Duration MINUTES = Duration.ofMinutes(3);
  private static final Duration TOO_LATE = Duration.ofSeconds(8);
  private static final Duration LATE = Duration.ofMillis(400);
  private static final Duration LATE_FOR_REDIS = Duration.ofMillis(75);
  private static final long FROZEN_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final int DISK_MB = 64;
  private static final int LARGE = 32 << 20;
  private static final String LARGE_KEY = "large";
  private static final String PURCHASES = "seckill_purchases_total";
  private static final int WARM = 1_000;
  private static final String LOOKS_AGE = "seckill_consumer_shard_looks_age_seconds";

  /** The alert's bound, its cut time, and some scrapes. */
  private static final double LOOKS_LATE_S = 18;

  private static final String SECRET = "callbacks-of-the-tests-0123456789";

  /** The name that order-consumer gives the lock. */
  private static final String WALLET_CHECK =
      "CONCAT(LEFT(SHA2(DATABASE(), 256), 16), 'wallet-check')";

  /** The same of the reconciliation of a SKU. */
  private static final String RECONCILIATION =
      "CONCAT(LEFT(SHA2(DATABASE(), 256), 16), 'reconcile-%d')";

  private final FaultLab lab;
  private final ShopClient shop;

  AlertFaultsIT(FaultLab lab) {
    this.lab = lab;
    this.shop = lab.shops().get(0);
  }

  private AlertWatch watch() {
    return watch(Map.of());
  }

  private AlertWatch watch(Map<String, List<Integer>> others) {
    return watch(others, AlertWatch::start);
  }

  private AlertWatch watch(
      Map<String, List<Integer>> others,
      Function<Map<String, List<Integer>>, AlertWatch> prometheus) {
    Map<String, List<Integer>> ports = new HashMap<>(others);
    ports.put("gateway", ports(lab.gateways()));
    ports.put("relay", ports(lab.relays()));
    ports.put("consumer", ports(lab.consumers()));
    AlertWatch watch = prometheus.apply(ports);
    Signals.await("Prometheus to scrape all services", () -> watch.targetsUp() >= lab.all().size());
    return watch;
  }

  private static List<Integer> ports(List<ServiceInstance> services) {
    return services.stream().map(ServiceInstance::healthPort).toList();
  }

  private void fires(List<String> alerts, Runnable fault, SaleOffer... sales) {
    fires(alerts, fault, List.of(), () -> {}, sales);
  }

  /** Shoppers buy of these sales meanwhile. */
  private void fires(
      List<String> alerts, Runnable fault, List<String> over, Runnable end, SaleOffer... sales) {
    try (AlertWatch watch = watch();
        SteadyShoppers shoppers = new SteadyShoppers(lab, sales)) {
      shoppers.start();
      try {
        fault.run();
        watch.awaitFiring(alerts.toArray(String[]::new));
      } finally {
        end.run();
      }
      watch.awaitSilent(over.toArray(String[]::new));
    }
  }

  private SaleOffer strong() {
    SaleOffer strong = lab.plenty().strong();
    lab.open(strong);
    return strong;
  }

  private SaleOffer limited(int limit, long stock) {
    SaleOffer sale = new SaleOffer(lab.plenty().skuId(), PurchasePolicy.LIMITED, limit, stock);
    lab.open(sale);
    return sale;
  }

  /** Buys one unit and returns its order, once it is stored. */
  private String stored(SaleOffer sale, long user, String key) {
    Answer answer = shop.buy(user, sale.skuId(), 1, key);
    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    String order = answer.text("orderId");
    Signals.await(
        "the order to be stored", () -> shop.order(user, order).text("status").equals("CONFIRMED"));
    return order;
  }

  private void sql(String statement) {
    lab.database().execute(statement);
  }

  /**
   * First, because other rows leave behind what alerts are for; with the deployed times, on
   * services that are warm, as the guide to a launch wants them. Tests beside it may take the
   * processors for minutes.
   */
  @Test
  @Order(1)
  @Timeout(value = 30, unit = TimeUnit.MINUTES)
  @DisplayName("nothing fires while the pipeline sells")
  void nothingWhileThePipelineSells() {
    BuildLock.hold(this::sellInSilence);
  }

  private void sellInSilence() {
    try (SteadyShoppers shoppers = new SteadyShoppers(lab, lab.newSale(), strong())) {
      shoppers.start();
      Signals.await(
          "warm services",
          () -> lab.gateways().stream().allMatch(one -> one.sum(PURCHASES) > WARM));
      try (AlertWatch watch = watch(Map.of(), AlertWatch::startAsDeployed)) {
        await("silence")
            .during(QUIET)
            .atMost(MINUTES.multipliedBy(8)) // the rules look back five minutes
            .until(watch::firing, Set::isEmpty);
      }
    }
  }

  @Test
  @DisplayName("Redis killed")
  void redisKilled() {
    SaleOffer sale = lab.newSale();
    String order = stored(sale, 1, "cancelled-0001");
    try (AlertWatch watch = watch();
        SteadyShoppers shoppers = new SteadyShoppers(lab, sale)) {
      shoppers.start();
      lab.servers().redis().kill();
      Signals.await("the order to be cancelled", () -> shop.cancel(1, order).status() == 200);
      watch.awaitFiring(
          "BreakerOpen",
          "RedisErrors",
          "PurchasesUndecided",
          "LedgerNotRead",
          "CompensationsStayPending");
      lab.servers().redis().restart();
      watch.awaitSilent("BreakerOpen", "LedgerNotRead", "CompensationsStayPending");
    }
  }

  @Test
  @DisplayName("order-consumers cut off from Redis")
  void consumersCutOffFromRedis() {
    fires(
        List.of("ResultsNotInRedis"),
        () -> lab.consumers().forEach(consumer -> consumer.links().redis().cut()),
        lab.newSale());
  }

  @Test
  @DisplayName("MySQL killed, and back")
  void mySqlKilled() {
    MySqlServer mysql = lab.servers().mysql();
    fires(
        List.of("BreakerOpen", "IntakePaused", "NoReconciliation", "PurchasesUndecided"),
        mysql::kill,
        List.of("BreakerOpen", "IntakePaused", "NoReconciliation"),
        mysql::restart,
        lab.newSale(),
        strong());
  }

  @Test
  @DisplayName("MySQL killed while nobody buys, and back")
  void mySqlKilledWhileNobodyBuys() {
    MySqlServer mysql = lab.servers().mysql();
    openInShards();
    try (AlertWatch watch = watch()) {
      mysql.kill();
      watch.awaitFiring("BreakerOpen", "IntakePaused");
      await("shards not looked at for longer than ShardsNotServed allows")
          .atMost(MINUTES)
          .until(() -> lab.consumers().stream().anyMatch(one -> one.sum(LOOKS_AGE) > LOOKS_LATE_S));
      assertThat(watch.firing()).contains("IntakePaused").doesNotContain("ShardsNotServed");
      mysql.restart();
      watch.awaitSilent("BreakerOpen", "IntakePaused");
    }
  }

  private void openInShards() {
    new ShardedSale(lab.plenty().skuId(), 2, 1_000).open(lab.admin());
  }

  @Test
  @DisplayName("the moves between shards cannot be read")
  void movesLocked() throws SQLException {
    openInShards();
    try (AlertWatch watch = watch();
        Connection session = lab.database().connect();
        Statement held = session.createStatement()) {
      held.execute("LOCK TABLES stock_change WRITE");
      watch.awaitFiring("ShardsNotServed");
      held.execute("UNLOCK TABLES");
      watch.awaitSilent("ShardsNotServed");
    }
  }

  @Test
  @DisplayName("order-consumers frozen, and awake")
  void consumersFrozen() {
    try (AlertWatch watch = watch();
        SteadyShoppers shoppers = new SteadyShoppers(lab, lab.newSale())) {
      shoppers.start();
      lab.consumers().forEach(ServiceInstance::freeze);
      watch.awaitFiring("ServiceDown", "InstanceDown");
      await("orders to wait longer than StoringLate allows")
          .atMost(MINUTES)
          .pollDelay(TOO_LATE)
          .until(() -> !watch.firing().isEmpty());
      lab.consumers().forEach(ServiceInstance::thaw);
      watch.awaitFiring("StoringLate");
      watch.awaitSilent("ServiceDown", "InstanceDown");
    }
  }

  @Test
  @DisplayName("MySQL slow: every statement takes 800 ms and more")
  void mySqlSlow() {
    fires(
        List.of("StrongSlow", "StrongUndecided"),
        () -> lab.consumers().forEach(consumer -> consumer.links().mysql().delay(LATE)),
        strong());
  }

  @Test
  @DisplayName("Redis far away from the gateways")
  void redisFarAway() {
    fires(
        List.of("AdmissionSlow"),
        () -> lab.gateways().forEach(gateway -> gateway.links().redis().delay(LATE_FOR_REDIS)),
        lab.newSale());
  }

  @Test
  @DisplayName("one relay killed, then both")
  void relaysKilled() {
    try (AlertWatch watch = watch()) {
      lab.relay(1).kill();
      watch.awaitFiring("InstanceDown");
      Signals.awaitThat( // a busy relay may miss scrapes
          "no ServiceDown",
          () -> assertThat(watch.firing()).contains("InstanceDown").doesNotContain("ServiceDown"));
      lab.relay(2).kill();
      watch.awaitFiring("ServiceDown");
    }
  }

  @Test
  @DisplayName("a relay that restarts again and again")
  void relayRestarts() {
    try (AlertWatch watch = watch()) {
      for (int restart = 1; restart <= 2; restart++) {
        assertThat(watch.firing()).doesNotContain("ServiceRestarts");
        lab.relay(2).kill();
        lab.relay(2).restart();
        lab.relay(2).awaitReady();
        Signals.await("Prometheus to have seen it", () -> watch.targetsUp() >= lab.all().size());
      }
      watch.awaitFiring("ServiceRestarts");
    }
  }

  @Test
  @DisplayName("RabbitMQ killed")
  void rabbitKilled() {
    RabbitServer rabbit = lab.servers().rabbit();
    List<String> alerts = List.of("LaneStuck", "OutboxOld", "QueueNotRead", "BreakerOpen");
    fires(alerts, rabbit::kill, alerts, rabbit::restart, lab.newSale());
  }

  @Test
  @DisplayName("memory alarm of RabbitMQ")
  void memoryAlarm() {
    RabbitServer rabbit = lab.servers().rabbit();
    fires(
        List.of("BrokerBlocksPublishing"),
        () -> rabbit.setMemoryWatermark(0.0000001),
        List.of(),
        () -> rabbit.setMemoryWatermark(0.4),
        lab.newSale());
  }

  @Test
  @DisplayName("a relay killed with orders, while the other one does not reach RabbitMQ")
  void deadQueues() {
    try (AlertWatch watch = watch();
        SteadyShoppers shoppers = new SteadyShoppers(lab, lab.newSale())) {
      shoppers.start();
      lab.relays().forEach(relay -> relay.links().rabbit().dropToClient(true));
      Signals.await(
          "orders in private queues", () -> lab.relay(1).sum("seckill_relay_private_queue") > 0);
      lab.relay(1).kill();
      watch.awaitFiring("OrdersInDeadQueues");
    }
  }

  @Test
  @DisplayName("bad messages, and an order with other content")
  void badMessages() throws Exception {
    SaleOffer sale = lab.newSale();
    String order = stored(sale, 1, "content-0001");
    try (AlertWatch watch = watch();
        BrokerClient broker = new BrokerClient(lab.servers())) {
      OrderMessage stored = CraftedMessages.admitted(lab.redis(), sale).get(0);
      assertThat(stored.orderId()).hasToString(order);
      int partition = Partition.ofSku(sale.skuId());
      broker.publish(
          partition, OrderMessageCodec.encode(stored).replace("\"quantity\":1", "\"quantity\":2"));
      for (String message : CraftedMessages.bad(sale)) {
        broker.publish(partition, message);
      }
      watch.awaitFiring("DeadLetters", "ContentConflict");
    }
  }

  @Test
  @DisplayName("Redis has more units and a higher limit than MySQL")
  void redisAdmitsTooMuch() throws SQLException {
    SaleOffer sale = limited(2, 3);
    try (AlertWatch watch = watch()) {
      try (Connection session = lab.database().connect();
          Statement held = session.createStatement()) {
        // The schedule would repair the sale thirty seconds after it has stopped selling.
        held.execute("SELECT GET_LOCK(" + RECONCILIATION.formatted(sale.skuId()) + ", 10)");
        lab.redis().incrBy(RedisKeys.stock(sale.skuId()), 7);
        lab.redis().hset(RedisKeys.sku(sale.skuId()), "limit", "100");
        for (int order = 1; order <= 3; order++) {
          shop.buy(1, sale.skuId(), 1, "too-much-" + order);
        }
        for (int user = 2; user <= 4; user++) {
          shop.buy(user, sale.skuId(), 1, "too-much-" + user);
        }
        watch.awaitFiring("OversellAttempt", "QuotaOverrun", "LedgerDifference");
      }
      Signals.await("the repair", () -> lab.admin().reconcile(sale.skuId()).status() == 200);
      watch.awaitFiring("Repaired");
      watch.awaitSilent("LedgerDifference");
    }
  }

  @Test
  @DisplayName("MySQL has lost the commits of a cancelled order")
  void commitsLost() {
    SaleOffer sale = lab.newSale();
    String order = stored(sale, 1, "commit-lost-1");
    Signals.await("the order to be cancelled", () -> shop.cancel(1, order).status() == 200);
    try (AlertWatch watch = watch()) {
      sql("DELETE FROM compensation WHERE order_id = " + order);
      sql("DELETE FROM orders WHERE order_id = " + order);
      Signals.await(
          "the finding",
          () ->
              lab.admin().reconcile(sale.skuId(), true).toString().contains("ORDER_NOT_IN_MYSQL"));
      watch.awaitFiring("OrdersNotInMySql");
    }
  }

  @Test
  @DisplayName("MySQL has units that nobody added; Redis away when the audits of a day are due")
  void audits() {
    SaleOffer sale = lab.plenty();
    Instant now = Instant.now();
    lab.open(sale, now.minus(Duration.ofDays(2)), now.plus(Duration.ofDays(1)));
    String stock = "UPDATE products SET stock = stock %s 1 WHERE sku_id = " + sale.skuId();
    Signals.await("a check of the wallets", () -> lab.admin().checkWallets().status() == 200);
    try (AlertWatch watch = watch()) {
      CompletableFuture<Void> wallets = CompletableFuture.runAsync(() -> notChecked(watch));
      sql(stock.formatted("+"));
      assertThat(lab.admin().audit(sale.skuId()).json().path("differences")).isNotEmpty();
      watch.awaitFiring("AuditFoundDifference");
      sql(stock.formatted("-"));
      Signals.await(
          "an audit without differences",
          () -> {
            lab.admin().reconcile(sale.skuId());
            return lab.admin().audit(sale.skuId()).json().path("differences").isEmpty();
          });
      watch.awaitSilent("AuditFoundDifference");

      lab.consumers().forEach(consumer -> consumer.links().redis().cut());
      sql("DELETE FROM daily_audit WHERE sku_id = " + sale.skuId()); // as when a day begins
      watch.awaitFiring("AuditNotMade");
      lab.consumers().forEach(consumer -> consumer.links().redis().heal());
      watch.awaitSilent("AuditNotMade");
      Bounded.get(wallets);
    }
  }

  /** Beside the audits: both are looked at once a minute. As if another process made the check. */
  private void notChecked(AlertWatch watch) {
    try (Connection session = lab.database().connect();
        Statement held = session.createStatement()) {
      held.execute("SELECT GET_LOCK(" + WALLET_CHECK + ", 10)");
      sql("UPDATE wallet_check SET checked_at = checked_at - INTERVAL 3 HOUR");
      watch.awaitFiring("WalletsNotChecked");
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
    watch.awaitSilent("WalletsNotChecked");
  }

  @Test
  @DisplayName("order-consumers cut off from Redis while a sale is archived")
  void archiveStandsStill() {
    SaleOffer sale = lab.newSale();
    Signals.await(
        "the close", () -> Set.of(200, 202).contains(lab.admin().close(sale.skuId()).status()));
    try (AlertWatch watch = watch()) {
      Signals.await(
          "the archive to begin", () -> lab.admin().archive(sale.skuId()).status() == 200);
      lab.consumers().forEach(consumer -> consumer.links().redis().cut());
      sql(
          "UPDATE archive SET stepped_at = NOW(6) - INTERVAL 16 MINUTE WHERE phase = 'REDIS'"
              + " AND sku_id = "
              + sale.skuId());
      watch.awaitFiring("ArchiveStandsStill");
      lab.consumers().forEach(consumer -> consumer.links().redis().heal());
      watch.awaitSilent("ArchiveStandsStill");
      Signals.await(
          "the archive to be done",
          () -> lab.admin().archive(sale.skuId()).text("phase").equals("DONE"));
    }
  }

  @Test
  @DisplayName("Redis has lost its data")
  void redisEmpty() {
    SaleOffer sale = lab.newSale();
    stored(sale, 1, "before-the-loss");
    try (AlertWatch watch = watch()) {
      lab.redis().del(RedisKeys.sku(sale.skuId()), RedisKeys.stock(sale.skuId()));
      watch.awaitFiring("SaleLost", "AdmissionQuarantined");
      Signals.await("the rebuild", () -> lab.admin().reconcile(sale.skuId()).status() == 200);
      watch.awaitSilent("SaleLost", "AdmissionQuarantined");
    }
  }

  @Test
  @DisplayName("Redis without fsync, then without an append-only file")
  void redisUnsafe() {
    try (AlertWatch watch = watch()) {
      lab.redis().configSet("appendfsync", "everysec");
      watch.awaitFiring("RedisMisconfigured", "RedisPrimaryUnsafe");
      lab.redis().configSet("appendonly", "no");
      watch.awaitFiring("RedisDoesNotPersist");
    } finally {
      lab.redis().configSet("appendonly", "yes");
      lab.redis().configSet("appendfsync", "always");
    }
  }

  @Test
  @DisplayName("Redis's memory nearly full")
  void redisMemory() {
    String before = lab.redis().configGet("maxmemory").get("maxmemory");
    assertThat(Long.parseLong(before)).as("maxmemory as shipped").isPositive();
    try (AlertWatch watch = watch()) {
      double used = lab.gateway(1).sum("seckill_redis_memory_used_bytes");
      lab.redis().configSet("maxmemory", Long.toString((long) (used * 1.1)));
      watch.awaitFiring("RedisMemoryLow");
      lab.redis().configSet("maxmemory", before);
      watch.awaitSilent("RedisMemoryLow");
    } finally {
      lab.redis().configSet("maxmemory", before);
    }
  }

  /**
   * A server that stops in the middle of a write measures what it would on a slow disk. The write
   * of a large value takes long enough to be met, also in memory; when it comes is tried out.
   */
  @Test
  @DisplayName("Redis's disk slow")
  void redisDiskSlow() {
    RedisServer redis = lab.servers().redis();
    String large = "x".repeat(LARGE);
    AtomicInteger tries = new AtomicInteger();
    try (AlertWatch watch = watch()) {
      await("a slow write")
          .atMost(MINUTES)
          .until(
              () -> {
                long begun = System.nanoTime();
                lab.redis().set(LARGE_KEY, large);
                long took = System.nanoTime() - begun;
                CompletableFuture<String> write =
                    CompletableFuture.supplyAsync(() -> lab.redis().set(LARGE_KEY, large));
                LockSupport.parkNanos(took * (tries.getAndIncrement() % 10) / 10);
                redis.freeze();
                LockSupport.parkNanos(FROZEN_NANOS);
                redis.thaw();
                write.orTimeout(1, TimeUnit.MINUTES).join();
                return watch.firing().contains("RedisFsyncSlow");
              });
    } finally {
      redis.thaw();
      lab.redis().del(LARGE_KEY);
      Signals.await( // it has every value that was written
          "a rewrite of the append-only file",
          () -> lab.redis().executeCommand(new CommandArguments(Command.BGREWRITEAOF)) != null);
    }
  }

  @Test
  @DisplayName("a disk nearly full")
  void diskNearlyFull() throws IOException, InterruptedException {
    Assumptions.assumeTrue(
        AlertWatch.isInstalled("prometheus-node-exporter"),
        "prometheus-node-exporter, of the Debian package of that name");
    RedisServer redis = lab.servers().redis();
    LoopDisk.missing(redis).ifPresent(Assumptions::abort);
    int port = Ports.free();
    Process exporter =
        new ProcessBuilder(
                "prometheus-node-exporter",
                "--collector.disable-defaults",
                "--collector.filesystem",
                "--collector.filesystem.mount-points-exclude=" + mountedNow(),
                "--web.listen-address=127.0.0.1:" + port)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try (LoopDisk disk = LoopDisk.under(redis, DISK_MB);
        AlertWatch watch = watch(Map.of("node", List.of(port)))) {
      redis.restart();
      disk.fill();
      watch.awaitFiring("StoreDiskLow");
      disk.makeRoom();
      watch.awaitSilent("StoreDiskLow");
    } finally {
      exporter.destroy();
      Bounded.waitFor(exporter);
    }
  }

  /** Another disk of this machine may be nearly full for good. A regular expression. */
  private static String mountedNow() throws IOException {
    return Files.readAllLines(Path.of("/proc/mounts")).stream()
        .map(line -> Pattern.quote(line.split(" ", -1)[1]))
        .collect(Collectors.joining("|", "^(", ")$"));
  }

  @Test
  @DisplayName("money that fits no order, a forged callback, a refund and an expiry that fail")
  void money() throws Exception {
    SaleOffer sale = limited(2, 10);
    String unpaid = stored(sale, 1, "never-paid-01");
    String refunded = stored(sale, 2, "refund-due-01");
    ServiceInstance consumer = lab.consumer(1);
    consumer.terminate();
    consumer.restart(Map.of("SECKILL_PAYMENT_CALLBACKSECRET", SECRET));
    consumer.awaitReady();
    try (AlertWatch watch = watch();
        Connection session = lab.database().connect();
        Statement held = session.createStatement()) {
      String report =
          "{\"eventId\":\"e-1\",\"type\":\"CHARGED\",\"orderId\":\"4711\",\"chargeId\":\"ch-alert\","
              + "\"amountCents\":1999}";
      assertThat(callback(consumer, report, "0".repeat(64))).isEqualTo(401);
      assertThat(callback(consumer, report, null)).isEqualTo(202);
      sql("DELETE FROM user_quota WHERE user_id = 1 AND sku_id = " + sale.skuId());
      sql("UPDATE orders SET created_at = NOW() - INTERVAL 32 MINUTE WHERE order_id = " + unpaid);
      sql(
          "INSERT INTO payment (order_id, amount_cents, state, charge_id, updated_at) VALUES ("
              + refunded
              + ", 1999, 'REFUND_DUE', 'ch-due', NOW() - INTERVAL 6 MINUTE)");
      session.setAutoCommit(false);
      held.execute("SELECT * FROM payment WHERE order_id = " + refunded + " FOR UPDATE");
      watch.awaitFiring("UnexplainedCharges", "PaymentCallbacksRefused", "OrdersNotExpired");
      watch.awaitFiring("RefundsStayDue");
      session.rollback();
    } finally {
      sql("DELETE FROM payment WHERE order_id = " + refunded);
      sql("UPDATE unexplained_charge SET state = 'CLOSED'");
      sql("UPDATE orders SET created_at = NOW() WHERE order_id = " + unpaid);
    }
  }

  /**
   * @param signature null for the right one
   */
  private static int callback(ServiceInstance consumer, String body, @Nullable String signature)
      throws IOException, InterruptedException, GeneralSecurityException {
    String timestamp = Long.toString(Instant.now().getEpochSecond());
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(SECRET.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    String right =
        HexFormat.of()
            .formatHex(mac.doFinal((timestamp + "." + body).getBytes(StandardCharsets.UTF_8)));
    HttpRequest request =
        HttpRequest.newBuilder(
                URI.create(
                    "http://127.0.0.1:" + consumer.healthPort() + "/internal/v1/payments/callback"))
            .header("Content-Type", "application/json")
            .header("X-Payment-Timestamp", timestamp)
            .header("X-Payment-Signature", signature == null ? right : signature)
            .POST(BodyPublishers.ofString(body))
            .build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.discarding()).statusCode();
  }

  @Test
  @DisplayName("a fallback begun by an operator")
  void fallback() {
    try (AlertWatch watch = watch()) {
      Signals.await("the fallback", () -> lab.admin().enterFallback().status() == 200);
      watch.awaitFiring("FallbackActive");
      Signals.await("the fallback to end", () -> lab.admin().leaveFallback().status() == 200);
      watch.awaitSilent("FallbackActive");
    }
  }
}
