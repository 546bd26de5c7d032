package io.seckill.system.faults;

import static java.util.concurrent.TimeUnit.MINUTES;

import io.seckill.system.ServiceEnvironment;
import io.seckill.system.process.Service;
import io.seckill.testing.Bounded;
import io.seckill.testing.DeployedSettings;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/** One Redis, one RabbitMQ node and one MySQL, which tests kill and freeze. */
final class LabServers implements Servers {

  private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(10);

  /** Longer than a server is waited for that is started twice. */
  private static final long START_MINUTES = 5;

  private final RabbitServer rabbit;
  private final MySqlServer mysql;
  private RedisServer redis;
  private final RabbitVhost vhost;
  private final MySqlDatabase database;

  /** The tests' own link to Redis, which no fault breaks. */
  private final TcpProxy toRedis;

  private final RedisClient redisClient;

  private LabServers(RedisServer redis, RabbitServer rabbit, MySqlServer mysql) {
    this.redis = redis;
    this.rabbit = rabbit;
    this.mysql = mysql;
    database = mysql.newDatabase();
    vhost = rabbit.newVhost();
    toRedis = proxyTo(redis);
    redisClient = redisClient(toRedis);
  }

  /** Starts all. When one does not start, all are ended. */
  static LabServers start() {
    var redis =
        CompletableFuture.supplyAsync(
            () -> RedisServer.start(DeployedSettings.redis().toArray(String[]::new)));
    var rabbit =
        CompletableFuture.supplyAsync(
            () -> RabbitServer.start(DeployedSettings.rabbit().toArray(String[]::new)));
    var mysql =
        CompletableFuture.supplyAsync(
            () -> MySqlServer.start(DeployedSettings.mysql().toArray(String[]::new)));
    try {
      CompletableFuture.allOf(redis, rabbit, mysql).orTimeout(START_MINUTES, MINUTES).join();
      return new LabServers(Bounded.get(redis), Bounded.get(rabbit), Bounded.get(mysql));
    } catch (RuntimeException | Error e) {
      var unused =
          CompletableFuture.allOf(
              redis.thenAccept(RedisServer::close),
              rabbit.thenAccept(RabbitServer::close),
              mysql.thenAccept(MySqlServer::close));
      throw e;
    }
  }

  private static TcpProxy proxyTo(RedisServer server) {
    try {
      return TcpProxy.to(server);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Has a long time-out: both cores may be busy with services that start. */
  private static RedisClient redisClient(TcpProxy link) {
    return RedisClient.builder()
        .hostAndPort(link.host(), link.port())
        .clientConfig(
            DefaultJedisClientConfig.builder()
                .socketTimeoutMillis((int) REDIS_TIMEOUT.toMillis())
                .build())
        .build();
  }

  RedisServer redis() {
    return redis;
  }

  RabbitServer rabbit() {
    return rabbit;
  }

  MySqlServer mysql() {
    return mysql;
  }

  @Override
  public Links newLinks() {
    return Links.to(this);
  }

  @Override
  public ServiceEnvironment environment(Links links, String jwtSecret, String internalToken) {
    return new ServiceEnvironment(
        "redis://" + links.redis().host() + ":" + links.redis().port() + "/0",
        vhost.via(links.rabbit()).url(),
        database.via(links.mysql()),
        jwtSecret,
        internalToken);
  }

  @Override
  public Map<String, String> settings(Service service) {
    return Map.of();
  }

  @Override
  public UnifiedJedis redisClient() {
    return redisClient;
  }

  @Override
  public MySqlDatabase database() {
    return database;
  }

  @Override
  public RabbitVhost vhost() {
    return vhost;
  }

  @Override
  public void putQueuesOnDisk() {
    rabbit.putQueuesOnDisk();
  }

  /** Replaces Redis by another server for good. */
  void failOverTo(RedisServer promoted) {
    redis.close();
    redis = promoted;
    toRedis.redirect(promoted);
    redisClient.getPool().clear();
  }

  /** Freezes all servers; {@link #heal()} resumes them. */
  void freeze() {
    redis.freeze();
    rabbit.freeze();
    mysql.freeze();
  }

  @Override
  public void heal() {
    TestServer.reviveAll(redis, rabbit, mysql);
    redisClient.getPool().clear(); // discards connections that a fault has closed
  }

  @Override
  public void close() {
    redisClient.close();
    toRedis.close();
    redis.close();
    rabbit.close();
    mysql.close();
  }
}
