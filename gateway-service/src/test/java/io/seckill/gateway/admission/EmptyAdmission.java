package io.seckill.gateway.admission;

import io.seckill.testing.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import redis.clients.jedis.UnifiedJedis;

/** An empty Redis, and calls of {@code admit.lua}. */
abstract class EmptyAdmission {

  static final String KEY = "key-0001";
  static final Durability IN_BROKER =
      new Durability(Durability.Store.BROKER, 0, Duration.ofMillis(300));

  @AutoClose static UnifiedJedis redis;
  static Calls calls;

  @BeforeAll
  static void connect(RedisServer server) {
    redis = server.newDatabase().open();
    calls = new Calls(redis);
  }

  @BeforeEach
  void emptyStore() {
    redis.flushDB();
  }

  static long redisMillis() {
    List<?> time = (List<?>) redis.eval("return redis.call('TIME')");
    return Long.parseLong((String) time.get(0)) * 1_000
        + Long.parseLong((String) time.get(1)) / 1_000;
  }
}
