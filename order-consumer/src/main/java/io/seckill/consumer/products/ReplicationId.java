package io.seckill.consumer.products;

import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import java.util.List;
import redis.clients.jedis.UnifiedJedis;

/** Identifies the Redis server of a partition; see {@code replication_id.lua}. */
public final class ReplicationId {

  /** Has no arguments. */
  public static final LuaScript SCRIPT = LuaScript.from(ReplicationId.class, "replication_id.lua");

  private ReplicationId() {}

  /** The id of the partition's server. Throws JedisException when it does not answer. */
  public static String of(UnifiedJedis redis, int partition) {
    return (String) SCRIPT.call(redis, keys(partition), List.of());
  }

  public static List<String> keys(int partition) {
    return List.of(RedisKeys.outbox(partition), RedisKeys.absent(partition));
  }
}
