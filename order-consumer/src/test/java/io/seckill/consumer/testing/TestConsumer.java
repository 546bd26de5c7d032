package io.seckill.consumer.testing;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.consumer.ConsumerApplication;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.TestServers;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import redis.clients.jedis.UnifiedJedis;

/** The whole service in this JVM, on a database, a vhost and a Redis database of its own. */
public final class TestConsumer implements AutoCloseable {

  /** The internal token of every test. */
  public static final String TOKEN = "token-of-the-tests-0123456789";

  private final RedisDatabase redisDatabase;
  private final RabbitVhost vhost;
  private final MySqlDatabase database;
  private final ConfigurableApplicationContext context;
  private final UnifiedJedis redis;

  private TestConsumer(
      RedisDatabase redisDatabase,
      RabbitVhost vhost,
      MySqlDatabase database,
      Map<String, String> properties,
      Class<?>... beans) {
    this.redisDatabase = redisDatabase;
    this.vhost = vhost;
    this.database = database;
    this.redis = RedisClients.open(RedisSettings.single(redisDatabase.url()), "test");
    this.context = run(properties, beans);
  }

  /** Starts it on fresh parts of the shared servers. */
  public static TestConsumer start() {
    return start(Map.of());
  }

  /** As {@link #start()}, with settings that depend on the Redis database it gets. */
  public static TestConsumer start(Function<RedisDatabase, Map<String, String>> properties) {
    RedisDatabase redis = TestServers.redis().newDatabase();
    return new TestConsumer(
        redis,
        TestServers.rabbit().newVhost(),
        TestServers.mysql().newDatabase(),
        properties.apply(redis));
  }

  /** As {@link #start()}, with other settings, and with beans as an installed jar adds them. */
  public static TestConsumer start(Map<String, String> properties, Class<?>... beans) {
    return new TestConsumer(
        TestServers.redis().newDatabase(),
        TestServers.rabbit().newVhost(),
        TestServers.mysql().newDatabase(),
        properties,
        beans);
  }

  /** On parts of servers of the caller's own, which may be reached by other addresses. */
  public static TestConsumer start(
      RedisDatabase redis, RabbitVhost vhost, Map<String, String> properties) {
    return new TestConsumer(redis, vhost, TestServers.mysql().newDatabase(), properties);
  }

  /** As {@link #start()}, on a MySQL of the test's own. */
  public static TestConsumer start(MySqlDatabase database, Map<String, String> properties) {
    return new TestConsumer(
        TestServers.redis().newDatabase(), TestServers.rabbit().newVhost(), database, properties);
  }

  /** A second process, so to speak, on the servers of this one. */
  public TestConsumer another(Map<String, String> properties) {
    return new TestConsumer(redisDatabase, vhost, database, properties);
  }

  private ConfigurableApplicationContext run(Map<String, String> overrides, Class<?>... beans) {
    Map<String, Object> properties = new LinkedHashMap<>();
    properties.put("server.port", "0");
    properties.put("seckill.internal.token", TOKEN);
    properties.put("seckill.demo.enabled", "true");
    properties.put("seckill.redis.url", redisDatabase.url());
    properties.put("seckill.broker.url", vhost.url());
    properties.put("spring.datasource.url", database.jdbcUrl());
    properties.put("spring.datasource.username", database.username());
    properties.put("spring.datasource.password", database.password());
    properties.put("spring.flyway.url", database.jdbcUrl());
    properties.put("spring.flyway.user", database.username());
    properties.put("spring.flyway.password", database.password());
    // Tests that make the stores disagree do so on purpose.
    properties.put("seckill.reconciliation.interval", "1h");
    properties.put("seckill.reconciliation.busy-interval", "2h");
    properties.putAll(overrides);
    return new SpringApplicationBuilder(ConsumerApplication.class)
        .sources(beans)
        .web(WebApplicationType.SERVLET)
        .registerShutdownHook(false)
        .run(
            properties.entrySet().stream()
                .map(entry -> "--" + entry.getKey() + "=" + entry.getValue())
                .toArray(String[]::new));
  }

  /** Calls to the internal port with its token. */
  public InternalApi api() {
    return new InternalApi("http://127.0.0.1:" + port(), TOKEN);
  }

  public int port() {
    return Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
  }

  /** A bean of the service, for tests of what has no door of its own. */
  public <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  /** All beans of a type. */
  public <T> Collection<T> beans(Class<T> type) {
    return context.getBeansOfType(type).values();
  }

  /** The ledger, through the service's pool. */
  public JdbcClient sql() {
    return context.getBean(JdbcClient.class);
  }

  /** A client of its own, not the service's. */
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
  }
}
