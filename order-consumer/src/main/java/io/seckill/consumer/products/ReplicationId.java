package io.seckill.consumer.products;

import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import java.util.List;

/** Identifies the Redis server of a partition; see {@code replication_id.lua}. */
public final class ReplicationId {

  /** Has no arguments. */
  public static final LuaScript SCRIPT = LuaScript.from(ReplicationId.class, "replication_id.lua");

  private ReplicationId() {}

  /** The keys of the script. */
  public static List<String> keys(int partition) {
    return List.of(RedisKeys.outbox(partition), RedisKeys.absent(partition));
  }
}
