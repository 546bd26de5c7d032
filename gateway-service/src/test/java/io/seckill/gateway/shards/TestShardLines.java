package io.seckill.gateway.shards;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.gateway.backends.RedisBreakers;
import redis.clients.jedis.UnifiedJedis;

/** The lines of a gateway's shards, for tests of other features. */
public final class TestShardLines implements AutoCloseable {

  private final ShardLooks looks;
  private final ShardLines lines;

  public TestShardLines(UnifiedJedis redis) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    looks = new ShardLooks(redis, RedisBreakers.of(redis, meters));
    lines = new ShardLines(looks, meters);
  }

  public ShardLines lines() {
    return lines;
  }

  @Override
  public void close() {
    lines.destroy();
    looks.destroy();
  }
}
