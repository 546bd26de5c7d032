package io.seckill.consumer.shards;

import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.runtime.RedisCallGuard;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/** Reads shards in Redis, and writes there how many units are outside of each. Thread-safe. */
@Component
class ShardReader {

  /** Longer than a purchase waits at a gateway. */
  private static final long ASKED_MS = 500;

  private static final Pattern ASKED = Pattern.compile("(\\d{1,9}):(\\d{1,14})");

  private static final LuaScript READ = LuaScript.from(ShardReader.class, "shard_read.lua");
  private static final LuaScript ELSEWHERE =
      LuaScript.from(ShardReader.class, "shard_elsewhere.lua");

  private final UnifiedJedis redis;
  private final RedisCallGuard guard;

  ShardReader(UnifiedJedis redis, RedisCallGuard guard) {
    this.redis = redis;
    this.guard = guard;
  }

  /** Those of these shards that can be reached, and in which Redis has lost nothing. */
  List<ShardState> read(List<ExpectedSale> shards) {
    List<ShardState> states = new ArrayList<>();
    for (ExpectedSale shard : shards) {
      guard.run(
          guard.partOf(shard.id()),
          () -> {
            List<?> reply = read(shard);
            if (!reply.isEmpty()) {
              states.add(state(shard.id(), reply));
            }
          });
    }
    return states;
  }

  private List<?> read(ExpectedSale shard) {
    return (List<?>)
        READ.call(
            redis,
            List.of(RedisKeys.sku(shard.id()), RedisKeys.stock(shard.id())),
            List.of(
                Long.toString(shard.epoch()),
                Long.toString(shard.lastSeq()),
                Long.toString(shard.changeSeq()),
                shard.server()));
  }

  /** Purchases wait at several gateways for units of one shard. */
  static ShardState state(long id, List<?> reply) {
    long now = (Long) reply.get(0);
    long units = 0;
    long longest = 0;
    Matcher asked = ASKED.matcher(String.valueOf(reply.get(4)));
    while (asked.find()) {
      long age = now - Long.parseLong(asked.group(2));
      if (Math.abs(age) < ASKED_MS) {
        units += Long.parseLong(asked.group(1));
        longest = Math.max(longest, age);
      }
    }
    return new ShardState(
        id, now, (Long) reply.get(1), (Long) reply.get(2), (Long) reply.get(3), units, longest);
  }

  /**
   * @param shard when it was true
   * @param units outside of it, at most; -1 when that is not known any more
   */
  void writeElsewhere(ShardState shard, long units) {
    guard.run(
        guard.partOf(shard.id()),
        () ->
            ELSEWHERE.call(
                redis,
                List.of(RedisKeys.sku(shard.id())),
                List.of(
                    Long.toString(shard.epoch()),
                    Long.toString(units),
                    Long.toString(shard.nowMs()))));
  }
}
