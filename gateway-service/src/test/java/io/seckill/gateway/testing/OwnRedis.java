package io.seckill.gateway.testing;

import static io.seckill.testing.Eventually.eventually;

import io.seckill.gateway.verification.HighWaterMarks;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;

/** Each test has a Redis that loses nothing, which it may kill, and a gateway behind a proxy. */
@ExtendWith(TestServers.class)
public abstract class OwnRedis {

  protected RedisServer server;
  protected TcpProxy link;
  protected UnifiedJedis redis;
  protected SeededDatabase database;
  protected TestGateway gateway;
  private final String[] settings;

  /** With these settings of the gateway. */
  protected OwnRedis(String... settings) {
    this.settings = settings;
  }

  @BeforeEach
  protected void start(MySqlServer mysql) throws IOException {
    server = RedisServer.start("appendonly yes", "appendfsync always");
    link = TcpProxy.to(server);
    redis = server.open();
    database = SeededDatabase.create(mysql);
    gateway = newGateway(settings);
  }

  @AfterEach
  protected void stop() {
    gateway.close();
    redis.close();
    link.close();
    server.close();
  }

  protected TestGateway newGateway(String... settings) {
    return database.gateway("redis://127.0.0.1:" + link.port(), settings);
  }

  /** Waits until the gateway has compared the sale: else it may forget what it admits from it. */
  protected void awaitMark(long sku) {
    eventually().until(() -> gateway.bean(HighWaterMarks.class).of(sku) != null);
  }

  /** Restarts Redis and discards the test's own connections, which the restart has closed. */
  protected void restart() {
    server.restart();
    ((RedisClient) redis).getPool().clear();
  }
}
