package io.seckill.consumer.testing;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.consumer.ConsumerApplication;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.runtime.SweeperPauses;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RowLock;
import io.seckill.testing.SharedApplications;
import io.seckill.testing.TestServers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import redis.clients.jedis.UnifiedJedis;

/** The whole service in this JVM, on a database, a vhost and a Redis database of its own. */
public final class TestConsumer implements AutoCloseable {

  /** The token of the internal port in every test. */
  public static final String TOKEN = "token-of-the-tests-0123456789";

  /** The {@code connection-init-sql} of tests that hold a lock while statements wait for it. */
  public static final String LONG_LOCK_WAITS =
      "SET SESSION innodb_lock_wait_timeout = 60, time_zone = '+00:00'";

  private static final Map<Map<String, String>, TestConsumer> SHARED = new HashMap<>();

  /** Of consumers that are closed, until another one needs it or the next one starts. */
  private static final Set<RabbitVhost> UNUSED = new HashSet<>();

  static {
    TestServers.begin();
    SharedApplications.add(TestConsumer::stopAll);
  }

  private final RedisDatabase redisDatabase;
  private final RabbitVhost vhost;
  private final boolean ownsVhost;
  private final MySqlDatabase database;
  private final ConfigurableApplicationContext context;
  private final UnifiedJedis redis;

  private TestConsumer(
      RedisDatabase redisDatabase,
      RabbitVhost vhost,
      boolean ownsVhost,
      MySqlDatabase database,
      Map<String, String> properties,
      Class<?>... beans) {
    this.redisDatabase = redisDatabase;
    this.vhost = vhost;
    this.ownsVhost = ownsVhost;
    this.database = database;
    this.redis = redisDatabase.open();
    this.context = run(properties, beans);
  }

  /** Starts the service on a new database, vhost and Redis database of the shared servers. */
  public static TestConsumer start() {
    return start(Map.of());
  }

  /**
   * The service with the settings of {@link #start()}, started once per test JVM and stopped with
   * it: for tests that look at SKUs of their own only.
   */
  public static TestConsumer shared() {
    return shared(Map.of());
  }

  /**
   * The same with other settings, for the test classes of one package, which run one after the
   * other: it is closed when one with further settings is wanted. An idle consumer whose sweeps
   * seldom rest takes a tenth of a processor.
   */
  public static synchronized TestConsumer shared(Map<String, String> settings) {
    closeShared(others -> !others.isEmpty() && !others.equals(settings));
    return SHARED.computeIfAbsent(settings, others -> start(others));
  }

  private static synchronized void closeShared(Predicate<Map<String, String>> which) {
    for (Map<String, String> settings : List.copyOf(SHARED.keySet())) {
      if (which.test(settings)) {
        SHARED.remove(settings).close();
      }
    }
  }

  private static synchronized void stopAll() {
    closeShared(any -> true);
    deleteUnused();
  }

  private static synchronized RabbitVhost newVhost() {
    deleteUnused();
    return TestServers.rabbit().newVhost();
  }

  /** A quorum queue costs processor time for as long as it exists. */
  private static void deleteUnused() {
    UNUSED.forEach(RabbitVhost::delete);
    UNUSED.clear();
  }

  /** As {@link #start()}, with settings that depend on the Redis database it gets. */
  public static TestConsumer start(Function<RedisDatabase, Map<String, String>> properties) {
    RedisDatabase redis = TestServers.redis().newDatabase();
    return new TestConsumer(
        redis, newVhost(), true, TestServers.mysql().newDatabase(), properties.apply(redis));
  }

  /** As {@link #start()}, with other settings, and with beans that an installed jar would add. */
  public static TestConsumer start(Map<String, String> properties, Class<?>... beans) {
    return new TestConsumer(
        TestServers.redis().newDatabase(),
        newVhost(),
        true,
        TestServers.mysql().newDatabase(),
        properties,
        beans);
  }

  /**
   * As {@link #start()}, on the caller's Redis and broker, whose addresses the settings may
   * override.
   */
  public static TestConsumer start(
      RedisDatabase redis, RabbitVhost vhost, Map<String, String> properties) {
    return new TestConsumer(redis, vhost, false, TestServers.mysql().newDatabase(), properties);
  }

  /** As {@link #start()}, on the caller's MySQL database. */
  public static TestConsumer start(MySqlDatabase database, Map<String, String> properties) {
    return new TestConsumer(
        TestServers.redis().newDatabase(), newVhost(), true, database, properties);
  }

  /** Starts the service again on the databases and vhost of this one, as a second process. */
  public TestConsumer another(Map<String, String> properties) {
    synchronized (TestConsumer.class) {
      UNUSED.remove(vhost);
    }
    return new TestConsumer(redisDatabase, vhost, false, database, properties);
  }

  private ConfigurableApplicationContext run(Map<String, String> overrides, Class<?>... beans) {
    Map<String, String> properties = new LinkedHashMap<>();
    properties.put("server.port", "0");
    properties.put("seckill.internal.token", TOKEN);
    properties.put("server.address", "127.0.0.1");
    properties.put("seckill.demo.enabled", "true");
    properties.put(
        "seckill.preheat.allow-unsafe-redis", "true"); // the shared one is not persistent
    properties.put("seckill.redis.url", redisDatabase.url());
    properties.put("seckill.broker.urls", vhost.url());
    properties.put("spring.datasource.url", database.jdbcUrl());
    properties.put("spring.datasource.username", database.username());
    properties.put("spring.datasource.password", database.password());
    properties.put("spring.flyway.url", database.jdbcUrl());
    properties.put("spring.flyway.user", database.username());
    properties.put("spring.flyway.password", database.password());
    // Tests make the stores differ on purpose; no scheduled reconciliation may repair them.
    properties.put("seckill.reconciliation.interval", "1h");
    properties.put("pause.reconciliationSweeper", "1h");
    properties.put("pause.auditSweeper", "1h"); // it reconciles, too, and stores what it finds
    properties.put("pause.walletSweeper", "1h"); // tests edit wallets by hand, and check them
    properties.put("pause.ledgerRefresh", "1h"); // reads all sales that other tests have left
    properties.put("pause.deadLetterDrainer", "100ms"); // every barrier waits for it
    // No call may fail because the machine is slow.
    properties.put("seckill.redis.socket-timeout", "10s");
    properties.put("spring.datasource.hikari.connection-timeout", "20000");
    properties.putAll(overrides);
    SweeperPauses pauses = SweeperPauses.removedFrom(properties);
    return new SpringApplicationBuilder(ConsumerApplication.class)
        .sources(beans)
        .initializers(pauses)
        .web(WebApplicationType.SERVLET)
        .registerShutdownHook(false)
        .run(
            properties.entrySet().stream()
                .map(entry -> "--" + entry.getKey() + "=" + entry.getValue())
                .toArray(String[]::new));
  }

  /** Calls the internal port with its token. */
  public InternalApi api() {
    return new InternalApi("http://127.0.0.1:" + port(), TOKEN);
  }

  public int port() {
    return Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
  }

  /** A bean of the service, for tests of what the internal port does not offer. */
  public <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  /** Runs a round of the sweeper of this name, by the caller's thread. */
  public void sweep(String sweeper) {
    SweeperPauses.round(context.getBean(sweeper, Sweeper.class));
  }

  /** All beans of a type. */
  public <T> Collection<T> beans(Class<T> type) {
    return context.getBeansOfType(type).values();
  }

  /** MySQL, through the service's connection pool. */
  public JdbcClient sql() {
    return context.getBean(JdbcClient.class);
  }

  /** Executes a statement of MySQL with these parameters; returns the number of changed rows. */
  public int update(String statement, Object... params) {
    return sql().sql(statement).params(params).update();
  }

  /** Returns the number that a query of MySQL has as its only row. */
  public long number(String query, Object... params) {
    return sql().sql(query).params(params).query(Long.class).single();
  }

  /** Returns the text that a query of MySQL has as its only row. */
  public String text(String query, Object... params) {
    return sql().sql(query).params(params).query(String.class).single();
  }

  /** As {@link #text}; without a row it returns the first argument. */
  public String textOr(String otherwise, String query, Object... params) {
    return sql().sql(query).params(params).query(String.class).optional().orElse(otherwise);
  }

  /** Returns a column of the product's row, or an expression of columns. */
  public String product(long skuId, String column) {
    return text("SELECT " + column + " FROM products WHERE sku_id = ?", skuId);
  }

  /** Locks rows or tables of the service's database. */
  public RowLock lock(String statement) {
    return database.lock(statement);
  }

  public RowLock lockProduct(long skuId) {
    return lock("SELECT * FROM products WHERE sku_id = " + skuId + " FOR UPDATE");
  }

  /** A connection that executes a statement like this now, as one that waits for a lock. */
  public Optional<Long> executing(String pattern) {
    return sql()
        .sql(
            "SELECT id FROM information_schema.processlist"
                + " WHERE db = DATABASE() AND id <> CONNECTION_ID() AND info LIKE ?")
        .param(pattern)
        .query(Long.class)
        .list()
        .stream()
        .findFirst();
  }

  /** Executes statements in the service's database as a user who may do anything. */
  public void asRoot(String... statements) {
    try (Connection root = TestServers.mysql().rootConnection();
        Statement statement = root.createStatement()) {
      statement.execute("USE " + database.name());
      for (String one : statements) {
        statement.execute(one);
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the gauge of this name and these tags, given as names and values in turn. */
  public double gauge(String name, String... tags) {
    return bean(MeterRegistry.class).get(name).tags(tags).gauge().value();
  }

  /** As {@link #gauge}, of a counter. */
  public double counter(String name, String... tags) {
    return bean(MeterRegistry.class).get(name).tags(tags).counter().count();
  }

  /** A Redis client of the test, not the service's. */
  public UnifiedJedis redis() {
    return redis;
  }

  public RedisDatabase redisDatabase() {
    return redisDatabase;
  }

  public RabbitVhost vhost() {
    return vhost;
  }

  public MySqlDatabase database() {
    return database;
  }

  @Override
  public void close() {
    context.close();
    redis.close();
    if (ownsVhost) {
      synchronized (TestConsumer.class) {
        UNUSED.add(vhost);
      }
    }
  }
}
