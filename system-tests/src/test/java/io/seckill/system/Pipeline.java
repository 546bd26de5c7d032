package io.seckill.system;

import io.seckill.system.process.Service;
import io.seckill.system.process.ServiceProcess;
import io.seckill.system.shop.AdminClient;
import io.seckill.system.shop.ShopClient;
import io.seckill.system.shop.Tokens;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * The three services as processes over real servers, each with a database, vhost and ports of its
 * own. What {@code scripts/up} does for a person, for a test.
 */
public final class Pipeline implements AutoCloseable {

  private static final String JWT_SECRET = "system-tests-" + UUID.randomUUID();
  private static final String INTERNAL_TOKEN = "internal-" + UUID.randomUUID();

  private final String name;
  private final String redisUrl = TestServers.redis().newDatabase().url();
  private final String brokerUrl = TestServers.rabbit().newVhost().url();
  private final MySqlDatabase mysql = TestServers.mysql().newDatabase();
  private final int shopPort = freePort();
  private final int adminPort = freePort();
  private final int relayPort = freePort();
  private final int consumerPort = freePort();
  private final Tokens tokens = new Tokens(JWT_SECRET);
  private final List<ServiceProcess> services = new ArrayList<>();
  private final UnifiedJedis redis = RedisClient.create(redisUrl);

  private Pipeline(String name) {
    this.name = name;
  }

  /**
   * Starts everything and waits until all three are ready.
   *
   * @param name names the log files under {@code target/logs}
   */
  public static Pipeline start(String name) {
    Pipeline pipeline = new Pipeline(name);
    try {
      pipeline.startServices();
      return pipeline;
    } catch (RuntimeException | Error e) {
      pipeline.close();
      throw e;
    }
  }

  /** The shoppers' side of the gateway. */
  public ShopClient shop() {
    return new ShopClient("http://127.0.0.1:" + shopPort, tokens);
  }

  /** The operators' side of the gateway. */
  public AdminClient admin() {
    return new AdminClient("http://127.0.0.1:" + adminPort, tokens);
  }

  /** What the stores hold, read past the services. */
  public SaleReader sales() {
    return new SaleReader(mysql.jdbcUrl(), mysql.username(), mysql.password(), redis);
  }

  @Override
  public void close() {
    for (int last = services.size() - 1; last >= 0; last--) {
      services.get(last).close();
    }
    redis.close();
  }

  /** The consumer migrates the database, so it comes first; the others start together. */
  private void startServices() {
    service(Service.CONSUMER, consumerPort, consumerEnvironment()).awaitReady();
    ServiceProcess relay = service(Service.RELAY, relayPort, relayEnvironment());
    service(Service.GATEWAY, adminPort, gatewayEnvironment()).awaitReady();
    relay.awaitReady();
  }

  private ServiceProcess service(Service service, int healthPort, Map<String, String> environment) {
    ServiceProcess process = ServiceProcess.start(service, name, healthPort, environment);
    services.add(process);
    return process;
  }

  private Map<String, String> consumerEnvironment() {
    Map<String, String> environment = new HashMap<>(databaseEnvironment());
    environment.put("SERVER_PORT", "" + consumerPort);
    environment.put("SECKILL_REDIS_URL", redisUrl);
    environment.put("SECKILL_BROKER_URL", brokerUrl);
    environment.put("SECKILL_INTERNAL_TOKEN", INTERNAL_TOKEN);
    environment.put("SPRING_FLYWAY_URL", mysql.jdbcUrl());
    environment.put("SPRING_FLYWAY_USER", mysql.username());
    environment.put("SPRING_FLYWAY_PASSWORD", mysql.password());
    return environment;
  }

  private Map<String, String> relayEnvironment() {
    return Map.of(
        "SERVER_PORT", "" + relayPort,
        "SECKILL_REDIS_URL", redisUrl,
        "SECKILL_BROKER_URL", brokerUrl);
  }

  private Map<String, String> gatewayEnvironment() {
    Map<String, String> environment = new HashMap<>(databaseEnvironment());
    environment.put("SERVER_PORT", "" + shopPort);
    environment.put("SECKILL_ADMIN_PORT", "" + adminPort);
    environment.put("SECKILL_REDIS_URL", redisUrl);
    environment.put("SECKILL_CONSUMER_URL", "http://127.0.0.1:" + consumerPort);
    environment.put("SECKILL_INTERNAL_TOKEN", INTERNAL_TOKEN);
    environment.put("SECKILL_SECURITY_HS256_SECRET", JWT_SECRET);
    return environment;
  }

  private Map<String, String> databaseEnvironment() {
    return Map.of(
        "SPRING_DATASOURCE_URL", mysql.jdbcUrl(),
        "SPRING_DATASOURCE_USERNAME", mysql.username(),
        "SPRING_DATASOURCE_PASSWORD", mysql.password());
  }

  private static int freePort() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
