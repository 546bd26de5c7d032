package io.seckill.system;

import io.seckill.testing.MySqlDatabase;
import java.util.HashMap;
import java.util.Map;

/**
 * The environment variables that {@code scripts/up} sets for a service, for one process of a test.
 *
 * @param redisUrl address that the process uses, possibly that of a proxy; the same holds for the
 *     broker and MySQL
 * @param jwtSecret secret that signs shoppers' tokens, at least 32 bytes
 * @param internalToken token with which the gateway authenticates to order-consumer
 */
public record ServiceEnvironment(
    String redisUrl,
    String brokerUrl,
    MySqlDatabase mysql,
    String jwtSecret,
    String internalToken) {

  /**
   * @param consumerPort port of the order-consumer that the gateway calls
   */
  public Map<String, String> gateway(int shopPort, int adminPort, int consumerPort) {
    Map<String, String> environment = new HashMap<>(database());
    environment.put("SERVER_ADDRESS", "127.0.0.1");
    environment.put("SERVER_PORT", "" + shopPort);
    environment.put("SECKILL_ADMIN_ADDRESS", "127.0.0.1");
    environment.put("SECKILL_ADMIN_PORT", "" + adminPort);
    environment.put("SECKILL_REDIS_URL", redisUrl);
    environment.put("SECKILL_CONSUMER_URL", "http://127.0.0.1:" + consumerPort);
    environment.put("SECKILL_INTERNAL_TOKEN", internalToken);
    environment.put("SECKILL_SECURITY_HS256_SECRET", jwtSecret);
    return environment;
  }

  public Map<String, String> relay(int port) {
    return Map.of(
        "SERVER_PORT", "" + port, "SECKILL_REDIS_URL", redisUrl, "SECKILL_BROKER_URLS", brokerUrl);
  }

  public Map<String, String> consumer(int port) {
    Map<String, String> environment = new HashMap<>(database());
    environment.put("SERVER_ADDRESS", "127.0.0.1");
    environment.put("SERVER_PORT", "" + port);
    environment.put("SECKILL_REDIS_URL", redisUrl);
    environment.put("SECKILL_BROKER_URLS", brokerUrl);
    environment.put("SECKILL_INTERNAL_TOKEN", internalToken);
    environment.put("SECKILL_DEMO_ENABLED", "true");
    environment.put("SPRING_FLYWAY_URL", mysql.jdbcUrl());
    environment.put("SPRING_FLYWAY_USER", mysql.username());
    environment.put("SPRING_FLYWAY_PASSWORD", mysql.password());
    return environment;
  }

  private Map<String, String> database() {
    return Map.of(
        "SPRING_DATASOURCE_URL", mysql.jdbcUrl(),
        "SPRING_DATASOURCE_USERNAME", mysql.username(),
        "SPRING_DATASOURCE_PASSWORD", mysql.password());
  }
}
