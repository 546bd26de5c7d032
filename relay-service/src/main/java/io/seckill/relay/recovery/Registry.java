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

  /** Registers a new lease, before anything can lie in its private queue. */
  static void enter(UnifiedJedis redis, int partition, String token, Duration lease) {
    call(redis, partition, token, lease.toMillis());
  }

  /** Hands a lease that is over to the sweepers, also when it was forgotten already. */
  static void retire(UnifiedJedis redis, int partition, String token) {
    call(redis, partition, token, 0);
  }

  /** Enters a private queue nobody knew. Returns false when the token was known after all. */
  static boolean enterOrphan(UnifiedJedis redis, int partition, String token) {
    return call(redis, partition, token, -1);
  }

  private static boolean call(UnifiedJedis redis, int partition, String token, long leaseMs) {
    List<String> args = List.of(token, Long.toString(leaseMs));
    return (Long) REGISTER.call(redis, List.of(RedisKeys.lanes(partition)), args) == 1;
  }
}
