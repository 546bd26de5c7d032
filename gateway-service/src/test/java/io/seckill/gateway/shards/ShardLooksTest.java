package io.seckill.gateway.shards;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.shards.ShardLine.Demand;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;

class ShardLooksTest {

  private static final int THREADS = 2;

  private final AtomicInteger answered = new AtomicInteger();
  private final CountDownLatch mayGoOn = new CountDownLatch(1);

  /** Every call fails, and opens its partition's breaker. */
  @Test
  void asksANodeOfAClusterForItsOwnPartitionsOnly() {
    UnifiedJedis redis = CannedRedis.cluster(command -> 0L);
    RedisBreaker breaker = RedisBreakers.of(redis, new SimpleMeterRegistry());
    breaker.thresholds(1, 1);
    ShardLooks looks = new ShardLooks(redis, breaker);
    IntStream.range(0, THREADS).forEach(shard -> begin(looks, shard));
    eventually().until(() -> answered.get() == THREADS);
    IntStream.range(THREADS, 8).forEach(shard -> begin(looks, shard)); // wait for these threads

    mayGoOn.countDown();

    eventually().until(() -> answered.get() == 8);
    assertThat(IntStream.range(0, 8)).noneMatch(breaker::isClosed);
    looks.destroy();
  }

  private void begin(ShardLooks looks, long shard) {
    looks.begin(
        shard,
        new Demand(0, Duration.ZERO),
        stock -> {
          answered.incrementAndGet();
          Bounded.await(mayGoOn);
        });
  }
}
