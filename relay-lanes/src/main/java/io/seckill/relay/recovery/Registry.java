package io.seckill.relay.recovery;

import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import java.time.Duration;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;

/** Entries of the lanes registry; see {@code register.lua}. */
final class Registry {

  private static final LuaScript REGISTER = LuaScript.from(Registry.class, "register.lua");

  private Registry() {}

  /** Registers a new lease, before its private queue can hold any order. */
  static void enter(UnifiedJedis redis, int partition, String token, Duration lease) {
    call(redis, partition, token, lease.toMillis());
  }

  /** Registers a lease as over, so that its queue is adopted; also when it was removed already. */
  static void retire(UnifiedJedis redis, int partition, String token) {
    call(redis, partition, token, 0);
  }

  /** Registers an unknown private queue as dead. Returns false if its token is registered. */
  static boolean enterOrphan(UnifiedJedis redis, int partition, String token) {
    return call(redis, partition, token, -1);
  }

  private static boolean call(UnifiedJedis redis, int partition, String token, long leaseMs) {
    List<String> args = List.of(token, Long.toString(leaseMs));
    return (Long) REGISTER.call(redis, List.of(RedisKeys.lanes(partition)), args) == 1;
  }
}
