package io.seckill.gateway.testing;

import static io.seckill.testing.Eventually.eventually;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.support.contract.ProductRow;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.OrderTotalSql;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.SharedApplications;
import io.seckill.testing.TestServers;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import redis.clients.jedis.UnifiedJedis;

/**
 * Redis, MySQL, RabbitMQ, the real order-consumer and one gateway, started once per test JVM and
 * shared; each test uses SKUs and users of its own. No relay runs, so orders stay in the outbox
 * until a test stores them.
 */
public final class GatewayStage {

  private static final AtomicLong NEXT_SKU = new AtomicLong(1_000);

  /** Above 2^53, so that no answer can have a user's id as a number. */
  private static final AtomicLong NEXT_USER = new AtomicLong((1L << 53) + 1);

  private static final AtomicInteger NEXT_KEY = new AtomicInteger(1_000);

  private static @Nullable GatewayStage shared;

  static {
    TestServers.begin();
  }

  private final RedisDatabase redisDatabase = TestServers.redis().newDatabase();
  private final MySqlDatabase mysqlDatabase = TestServers.mysql().newDatabase();
  private final RabbitVhost rabbit = TestServers.rabbit().newVhost();
  private final ConsumerProcess consumer =
      ConsumerProcess.start(redisDatabase, rabbit, mysqlDatabase);
  private final TestGateway gateway =
      TestGateway.start(
          redisDatabase, mysqlDatabase, consumer.url(), "seckill.consumer.timeout=60s");
  private final UnifiedJedis redis = redisDatabase.open();
  private final JdbcClient mysql =
      JdbcClient.create(
          new DriverManagerDataSource(
              mysqlDatabase.jdbcUrl(), mysqlDatabase.username(), mysqlDatabase.password()));

  private GatewayStage() {
    SharedApplications.add(this::stop);
  }

  /** Returns the stage of this JVM; needs {@code @ExtendWith(TestServers.class)}. */
  public static synchronized GatewayStage shared() {
    if (shared == null) {
      shared = new GatewayStage();
    }
    return shared;
  }

  private void stop() {
    gateway.close();
    consumer.close();
    rabbit.delete();
  }

  public TestGateway gateway() {
    return gateway;
  }

  public ConsumerProcess consumer() {
    return consumer;
  }

  public RedisDatabase redisDatabase() {
    return redisDatabase;
  }

  public MySqlDatabase mysqlDatabase() {
    return mysqlDatabase;
  }

  public UnifiedJedis redis() {
    return redis;
  }

  public JdbcClient mysql() {
    return mysql;
  }

  /** Executes a statement of MySQL with these parameters. */
  public void update(String statement, @Nullable Object... params) {
    mysql.sql(statement).params(params).update();
  }

  /** Returns the number that a query of MySQL has as its only row. */
  public long number(String query, Object... params) {
    return mysql.sql(query).params(params).query(Long.class).single();
  }

  /** Returns the text that a query of MySQL has as its only row. */
  public String text(String query, Object... params) {
    return mysql.sql(query).params(params).query(String.class).single();
  }

  /** A SKU id that no other test uses. */
  public long newSku() {
    return NEXT_SKU.incrementAndGet();
  }

  /** A user id that no other test uses. */
  public long newUser() {
    return NEXT_USER.incrementAndGet();
  }

  /** The body of a product whose sale opened a minute ago and closes in a day. */
  public static String product(PurchasePolicy policy, int limit, long stock) {
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    return product(
        policy,
        limit,
        stock,
        now.minusSeconds(60).toString(),
        now.plus(1, ChronoUnit.DAYS).toString());
  }

  public static String product(
      PurchasePolicy policy, int limit, long stock, String opensAt, String closesAt) {
    return """
    {"name":"A thing","priceCents":1999,"stock":%d,"policy":"%s","limitPerUser":%d,
     "opensAt":"%s","closesAt":"%s"}\
    """
        .formatted(stock, policy, limit, opensAt, closesAt);
  }

  /** A new strong sale that was not preheated. */
  public long newStrongSale() {
    long sku = newSku();
    gateway.operate("PUT", admin(sku), strongProduct()).expect(201);
    return sku;
  }

  /**
   * A new strong sale, preheated and open; the gateway has read it when the operator is answered.
   */
  public long onStrongSale() {
    long sku = newSku();
    gateway.putOnSale(sku, strongProduct());
    return sku;
  }

  private static String strongProduct() {
    return product(PurchasePolicy.LIMITED, 5, 100)
        .replace("\"policy\"", "\"decides\":\"MYSQL\",\"policy\"");
  }

  /** A new SKU, preheated and open. */
  public long onSale(PurchasePolicy policy, int limit, long stock) {
    long sku = newSku();
    gateway.putOnSale(sku, product(policy, limit, stock));
    return sku;
  }

  /** A purchase by a new user. */
  public Placed buy(long sku, int quantity) {
    return buy(newUser(), sku, quantity);
  }

  public Placed buy(long user, long sku, int quantity) {
    String key = "key-" + NEXT_KEY.incrementAndGet() + "-of-" + user;
    GatewayAnswer answer = gateway.buy(user, sku, quantity, key).expect(202);
    return new Placed(OrderId.parse(answer.text("orderId")), user, sku, key);
  }

  /** Inserts a new order into MySQL only; Redis does not have it. */
  public Placed store(
      long sku, long user, int quantity, long seq, String status, @Nullable String reason) {
    long made = System.currentTimeMillis();
    int n = NEXT_KEY.incrementAndGet();
    OrderId id = OrderId.of(made + n, Partition.ofSku(sku), 200, n % 1024);
    Placed order = new Placed(id, user, sku, "key-" + n + "-stored");
    store(order, quantity, status, reason, seq);
    return order;
  }

  /** Stores a queued order in MySQL as order-consumer would, without the result in Redis. */
  public void store(Placed order, int quantity, String status, @Nullable String reason) {
    store(order, quantity, status, reason, 1);
    storedUpTo(order.sku(), 1);
  }

  /**
   * Makes MySQL say that it stores orders up to this sequence, which Redis then has given, and
   * waits until the gateway has read that.
   */
  public void storedUpTo(long sku, long seq) {
    String given = redis.hget(RedisKeys.sku(sku), "seq");
    if (given != null && Long.parseLong(given) < seq) {
      redis.hset(RedisKeys.sku(sku), "seq", Long.toString(seq));
    }
    update("UPDATE products SET last_seq = ? WHERE sku_id = ?", seq, sku);
    ProductCache products = gateway.bean(ProductCache.class);
    eventually()
        .until(() -> products.mayHaveStored(sku, seq) && !products.mayHaveStored(sku, seq + 1));
  }

  /**
   * Switches the fallback as order-consumer does, but with no sale, and waits until the gateway has
   * read that.
   *
   * @param state REDIS or MYSQL
   */
  public void fallback(String state) {
    update("UPDATE fallback SET state = ?", state);
    ProductCache products = gateway.bean(ProductCache.class);
    eventually().until(() -> products.isInFallback() == state.equals("MYSQL"));
  }

  /**
   * Moves every sale of Redis to this phase of a fallback, as order-consumer does, and waits until
   * the gateway has read that.
   *
   * @param phase as in {@code products.fallback}; NO when Redis decides again
   * @param sku any of them
   */
  public void fallbackOfSales(String phase, long sku) {
    update(
        "UPDATE products SET decides = ?, fallback = ? WHERE sale_phase = 'REDIS' OR fallback <> 'NO'",
        phase.equals("NO") ? "REDIS" : "MYSQL",
        phase);
    ProductCache products = gateway.bean(ProductCache.class);
    eventually()
        .until(
            () -> {
              ProductRow read = products.lastRead(sku);
              return read != null && read.fallback().equals(phase);
            });
  }

  /**
   * Closes a sale whose orders Redis may lack, and waits until the gateway has compared it: while
   * it is quarantined, no order of its partition is reported as not found.
   */
  public void closeQuarantined(long sku) {
    update("UPDATE products SET state = 'CLOSED' WHERE sku_id = ?", sku);
    VerifiedServers servers = gateway.bean(VerifiedServers.class);
    int partition = Partition.ofSku(sku);
    String server = TestSale.replicationId(redis);
    eventually().until(() -> servers.provesAbsence(partition, server));
  }

  private void store(Placed order, int quantity, String status, @Nullable String reason, long seq) {
    update(
        """
        INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents, request_id,
            status, reason, epoch, seq, admitted_at, created_at, updated_at)
        VALUES (?, ?, ?, ?, 1999, ?, ?, ?, 1, ?, UTC_TIMESTAMP(3), UTC_TIMESTAMP(6),
            UTC_TIMESTAMP(6))
        """,
        order.id().value(),
        order.user(),
        order.sku(),
        quantity,
        order.key(),
        status,
        reason,
        seq);
    update(OrderTotalSql.count(order.sku()));
  }

  public static String admin(long sku) {
    return "/admin/v1/skus/" + sku;
  }
}
