package io.seckill.system;

import io.seckill.system.process.Service;
import io.seckill.system.process.ServiceProcess;
import io.seckill.system.shop.AdminClient;
import io.seckill.system.shop.ShopClient;
import io.seckill.system.shop.ShopTokens;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.Ports;
import io.seckill.testing.RowLock;
import io.seckill.testing.TestServers;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * The three services as processes, connected to real servers as by {@code scripts/up}. Each
 * pipeline has its own databases, vhost and ports.
 */
public final class Pipeline implements AutoCloseable {

  private static final String JWT_SECRET = "system-tests-" + UUID.randomUUID();
  private static final String INTERNAL_TOKEN = "internal-" + UUID.randomUUID();

  private final String name;
  private final String redisUrl;
  private final String brokerUrl;
  private final MySqlDatabase mysql;
  private final int shopPort = Ports.free();
  private final int adminPort = Ports.free();
  private final int relayPort = Ports.free();
  private final int consumerPort = Ports.free();
  private final ShopTokens tokens = new ShopTokens(JWT_SECRET);
  private final ShopClient shop = new ShopClient("http://127.0.0.1:" + shopPort, tokens);
  private final AdminClient admin = new AdminClient("http://127.0.0.1:" + adminPort, tokens);
  private final Map<Service, ServiceProcess> services = new EnumMap<>(Service.class);
  private final UnifiedJedis redis;

  /** Whether each service logs in to Redis as its own user, with that user's rights only. */
  private boolean leastPrivilege;

  private Map<String, String> settings = Map.of();
  private @Nullable RowLock dailyAudit;

  private Pipeline(String name, Stores stores) {
    this.name = name;
    this.redisUrl = stores.redisUrl();
    this.brokerUrl = stores.brokerUrl();
    this.mysql = stores.mysql();
    this.redis = RedisClient.create(redisUrl);
  }

  /** The stores of a pipeline; nothing else uses them while it runs. */
  public record Stores(String redisUrl, String brokerUrl, MySqlDatabase mysql) {

    private static Stores ofSharedServers() {
      TestServers.begin();
      return new Stores(
          TestServers.redis().newDatabase().url(),
          TestServers.rabbit().newVhost().url(),
          TestServers.mysql().newDatabase());
    }
  }

  /**
   * Starts everything and waits until all three are ready.
   *
   * @param name names the log files
   */
  public static Pipeline start(String name) {
    return started(onSharedServers(name, Map.of()));
  }

  /**
   * As {@link #start}, but each service logs in to Redis as its user of {@code
   * deploy/redis/users.acl}; see {@link #refusedByRedis}.
   *
   * @param settings environment variables, for all three services
   */
  static Pipeline startWithLeastPrivilege(String name, Map<String, String> settings) {
    Pipeline pipeline = onSharedServers(name, settings);
    pipeline.leastPrivilege = true;
    RedisUsers.install(pipeline.redis);
    return started(pipeline);
  }

  /**
   * Without the daily audit. Allows an unsafe Redis: the shared one has no persistence, so preheat
   * would be refused.
   */
  private static Pipeline onSharedServers(String name, Map<String, String> settings) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("SECKILL_PREHEAT_ALLOWUNSAFEREDIS", "true");
    Pipeline pipeline = over(name, Stores.ofSharedServers(), all);
    pipeline.dailyAudit = pipeline.mysql.lockDailyAudit();
    return pipeline;
  }

  private static Pipeline started(Pipeline pipeline) {
    try {
      pipeline.startServices();
      return pipeline;
    } catch (RuntimeException | Error e) {
      pipeline.close();
      throw e;
    }
  }

  /**
   * Returns a pipeline without a started service; see {@link #run}.
   *
   * @param name names the log files
   */
  public static Pipeline over(String name, Stores stores) {
    return new Pipeline(name, stores);
  }

  /**
   * As {@link #over(String, Stores)}, with additional settings.
   *
   * @param settings environment variables, for all three services
   */
  public static Pipeline over(String name, Stores stores, Map<String, String> settings) {
    Pipeline pipeline = new Pipeline(name, stores);
    pipeline.settings = Map.copyOf(settings);
    return pipeline;
  }

  /**
   * Starts one service unless it runs, and waits until it is ready. The consumer migrates the
   * database, so it runs first.
   */
  public ServiceProcess run(Service service) {
    return launch(service).awaitReady();
  }

  /** Sends SIGTERM to a service, if it runs, and waits for it to shut down. */
  public void stop(Service service) {
    ServiceProcess process = services.get(service);
    if (process != null && process.isAlive()) {
      process.stop();
    }
  }

  /** The log of a service. */
  public Path log(Service service) {
    return ServiceProcess.log(service, name);
  }

  /** The port of a service that serves health and metrics. */
  public int healthPort(Service service) {
    return switch (service) {
      case GATEWAY -> adminPort;
      case RELAY -> relayPort;
      case CONSUMER -> consumerPort;
    };
  }

  /** The gateway's port for operators. */
  public int adminPort() {
    return adminPort;
  }

  /** The gateway's port for shoppers. */
  public int shopPort() {
    return shopPort;
  }

  /** The broker's URL, for messages that a test publishes itself. */
  public String brokerUrl() {
    return brokerUrl;
  }

  /** The token of calls to order-consumer's internal port. */
  public static String internalToken() {
    return INTERNAL_TOKEN;
  }

  /** Creates tokens that the gateway accepts. */
  public ShopTokens tokens() {
    return tokens;
  }

  /** A client of the gateway for shoppers. */
  public ShopClient shop() {
    return shop;
  }

  /** A client of the gateway for operators. */
  public AdminClient admin() {
    return admin;
  }

  /** Reads MySQL and Redis directly, not through the services. */
  public SaleReader sales() {
    return new SaleReader(mysql.jdbcUrl(), mysql.username(), mysql.password(), redis);
  }

  /** A direct connection to Redis, for tests that corrupt its data. */
  public UnifiedJedis redis() {
    return redis;
  }

  /** The database, for tests that access it directly. */
  public MySqlDatabase mysql() {
    return mysql;
  }

  /** Accesses that Redis denied to the services' users, one text each. */
  public List<String> refusedByRedis() {
    return RedisUsers.refusals(redis);
  }

  @Override
  public void close() {
    services.values().forEach(ServiceProcess::close);
    if (dailyAudit != null) {
      dailyAudit.close();
    }
    redis.close();
  }

  /** The consumer migrates the database, so it starts before the gateway; the relay uses none. */
  void startServices() {
    ServiceProcess relay = launch(Service.RELAY);
    run(Service.CONSUMER);
    run(Service.GATEWAY);
    relay.awaitReady();
  }

  private ServiceProcess launch(Service service) {
    ServiceProcess process = services.get(service);
    if (process == null) {
      process = ServiceProcess.start(service, name, healthPort(service), environment(service));
      services.put(service, process);
    } else if (!process.isAlive()) {
      process.restart();
    }
    return process;
  }

  private Map<String, String> environment(Service service) {
    Map<String, String> environment = new HashMap<>(ownEnvironment(service));
    environment.putAll(settings);
    return environment;
  }

  private Map<String, String> ownEnvironment(Service service) {
    ServiceEnvironment environment =
        new ServiceEnvironment(redisUrl(service), brokerUrl, mysql, JWT_SECRET, INTERNAL_TOKEN);
    return switch (service) {
      case GATEWAY -> environment.gateway(shopPort, adminPort, consumerPort);
      case RELAY -> environment.relay(relayPort);
      case CONSUMER -> environment.consumer(consumerPort);
    };
  }

  private String redisUrl(Service service) {
    return leastPrivilege ? RedisUsers.url(redisUrl, service) : redisUrl;
  }
}
