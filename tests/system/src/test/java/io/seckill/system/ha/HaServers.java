package io.seckill.system.ha;

import static java.util.concurrent.TimeUnit.MINUTES;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.system.ServiceEnvironment;
import io.seckill.system.faults.Links;
import io.seckill.system.faults.Servers;
import io.seckill.system.process.Service;
import io.seckill.testing.Bounded;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlPair;
import io.seckill.testing.RabbitCluster;
import io.seckill.testing.RabbitVhost;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import redis.clients.jedis.UnifiedJedis;

/** The servers of {@code scripts/up --ha}, or with a Redis Cluster, without users and HAProxy. */
final class HaServers implements Servers {

  /** Long, because both cores may be busy with services that start. */
  private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(10);

  private static final int CONNECTIONS = 8;

  /** For nodes that are started twice, and then find each other. */
  private static final long START_MINUTES = 8;

  private final RedisForm redis;
  private final RabbitCluster rabbit;
  private final MySqlPair mysql;
  private final MySqlDatabase database;
  private final RabbitVhost vhost;
  private final UnifiedJedis redisClient;

  /**
   * A form of Redis.
   *
   * @param mode value of {@code seckill.redis.mode}
   * @param nodes value of {@code seckill.redis.nodes}
   * @param heal ends faults, and returns when one of the nodes of each part takes writes
   */
  record RedisForm(RedisSettings.Mode mode, List<String> nodes, Runnable heal, Runnable close) {}

  private HaServers(RedisForm redis, RabbitCluster rabbit, MySqlPair mysql) {
    this.redis = redis;
    this.rabbit = rabbit;
    this.mysql = mysql;
    this.database = mysql.newDatabase();
    this.vhost = rabbit.newVhost();
    this.redisClient =
        RedisClients.open(
            new RedisSettings(
                redis.mode(), url(), redis.nodes(), "seckill", CONNECTIONS, REDIS_TIMEOUT, null),
            "fault-tests");
  }

  /** Starts the others. When one does not start, all are ended, those of Redis included. */
  static HaServers with(RedisForm redis) {
    var rabbit = CompletableFuture.supplyAsync(RabbitCluster::start);
    var mysql = CompletableFuture.supplyAsync(MySqlPair::start);
    try {
      CompletableFuture.allOf(rabbit, mysql).orTimeout(START_MINUTES, MINUTES).join();
      return new HaServers(redis, Bounded.get(rabbit), Bounded.get(mysql));
    } catch (RuntimeException | Error e) {
      redis.close().run();
      var unused =
          CompletableFuture.allOf(
              rabbit.thenAccept(RabbitCluster::close), mysql.thenAccept(MySqlPair::close));
      throw e;
    }
  }

  RabbitCluster rabbit() {
    return rabbit;
  }

  MySqlPair mysql() {
    return mysql;
  }

  /** Only its scheme is used, and that it has no user. */
  private static String url() {
    return "redis://127.0.0.1:1/0";
  }

  @Override
  public Links newLinks() {
    return Links.none();
  }

  @Override
  public ServiceEnvironment environment(Links links, String jwtSecret, String internalToken) {
    return new ServiceEnvironment(url(), vhost.url(), database, jwtSecret, internalToken);
  }

  @Override
  public Map<String, String> settings(Service service) {
    String jdbcUrl = mysql.jdbcUrl(database);
    return Map.of(
        "SECKILL_REDIS_MODE",
        redis.mode().name(),
        "SECKILL_REDIS_NODES",
        String.join(",", redis.nodes()),
        "SECKILL_REDIS_MASTER",
        "seckill",
        "SPRING_DATASOURCE_URL",
        jdbcUrl,
        "SPRING_FLYWAY_URL",
        jdbcUrl);
  }

  @Override
  public UnifiedJedis redisClient() {
    return redisClient;
  }

  @Override
  public MySqlDatabase database() {
    return database.on(mysql.primary());
  }

  @Override
  public RabbitVhost vhost() {
    return vhost;
  }

  @Override
  public void putQueuesOnDisk() {
    rabbit.putQueuesOnDisk();
  }

  @Override
  public void heal() {
    redis.heal().run();
    rabbit.heal();
    mysql.heal();
  }

  @Override
  public void close() {
    redisClient.close();
    redis.close().run();
    rabbit.close();
    mysql.close();
  }
}
