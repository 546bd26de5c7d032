package io.seckill.relay.recovery;

import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** Entries of the lanes registry; see {@code register.lua} and {@code forget.lua}. */
final class Registry {

  private static final Logger log = LoggerFactory.getLogger(Registry.class);
  private static final LuaScript FORGET = LuaScript.from(Registry.class, "forget.lua");
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

  /** Removes dead private queues that have been empty for this long; a later call does, if not. */
  static void forgetEmpty(UnifiedJedis redis, int partition, Duration quietPeriod) {
    List<String> keys = List.of(RedisKeys.lanes(partition), RedisKeys.privateQueue(partition, ""));
    try {
      FORGET.call(redis, keys, List.of(Long.toString(quietPeriod.toMillis())));
    } catch (JedisDataException e) { // TRYAGAIN, while the slot moves to another node
      log.debug("dead lanes of partition {} remain registered: {}", partition, e.toString());
    }
  }

  private static boolean call(UnifiedJedis redis, int partition, String token, long leaseMs) {
    List<String> args = List.of(token, Long.toString(leaseMs));
    return (Long) REGISTER.call(redis, List.of(RedisKeys.lanes(partition)), args) == 1;
  }
}
