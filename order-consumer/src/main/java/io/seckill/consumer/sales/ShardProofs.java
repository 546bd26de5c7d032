package io.seckill.consumer.sales;

import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.runtime.RedisCallGuard;
import java.util.List;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/** Shows the gateways of a shard how many units of its SKU are elsewhere. Thread-safe. */
@Component
public class ShardProofs {

  private static final LuaScript SCRIPT = LuaScript.from(ShardProofs.class, "shard_elsewhere.lua");

  private final UnifiedJedis redis;
  private final RedisCallGuard guard;

  public ShardProofs(UnifiedJedis redis, RedisCallGuard guard) {
    this.redis = redis;
    this.guard = guard;
  }

  /**
   * @param units elsewhere, at most
   * @param atMs when it was true, by the clock of the shard's Redis
   */
  public void write(long shard, long epoch, long units, long atMs) {
    call(shard, Long.toString(epoch), units, Long.toString(atMs), "");
  }

  /**
   * Shows for as long again that no unit is elsewhere.
   *
   * @param shownMs when it was true that the shard shows now
   * @return false when it does not: it was taken back, or written by another process
   */
  public boolean renew(long shard, long epoch, long shownMs, long atMs) {
    return call(shard, Long.toString(epoch), 0, Long.toString(atMs), "0:" + shownMs);
  }

  /** Units come to the SKU, or move: what was found before does not count, and is not written. */
  public void takeBack(List<Long> shards) {
    shards.forEach(shard -> call(shard, "", -1, "", ""));
  }

  private boolean call(long shard, String epoch, long units, String atMs, String shown) {
    boolean[] written = {false};
    guard.run(
        guard.partOf(shard),
        () ->
            written[0] =
                Long.valueOf(1)
                    .equals(
                        SCRIPT.call(
                            redis,
                            List.of(RedisKeys.sku(shard)),
                            List.of(epoch, Long.toString(units), atMs, shown))));
    return written[0];
  }
}
