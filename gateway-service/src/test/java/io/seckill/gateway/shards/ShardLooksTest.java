package io.seckill.gateway.shards;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.shards.ShardLine.Demand;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;

class ShardLooksTest {

  private static final int THREADS = 2;
  private static final List<Long> SHARDS = List.of(1L, 2L, 3L, 4L);

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

  @Test
  void answersEachOfTheLooksThatShareACallWithItsOwnShard() {
    FourLooks four =
        eventually() // Redis has not answered in time where the machine stalled
            .until(ShardLooksTest::beginFour, all -> !all.seen.containsValue(Optional.empty()));

    assertThat(four.calls).as("of the first, of the second, and of the others").isEqualTo(3);
    for (long shard : SHARDS) {
      assertThat(four.seen.get(shard)).contains(new ShardStock(shard, 0));
    }
  }

  /** What the looks at the shards have seen, and how many calls they were. */
  private record FourLooks(Map<Long, Optional<ShardStock>> seen, int calls) {}

  /** The first two keep the threads, so that the others wait for one. */
  private static FourLooks beginFour() {
    CannedRedis redis = new CannedRedis(ShardLooksTest::reply);
    ShardLooks looks = new ShardLooks(redis, RedisBreakers.of(redis, new SimpleMeterRegistry()));
    Map<Long, Optional<ShardStock>> seen = new ConcurrentHashMap<>();
    CountDownLatch mayGoOn = new CountDownLatch(1);
    for (long shard : SHARDS) {
      begin(looks, shard, mayGoOn, stock -> seen.put(shard, Optional.ofNullable(stock)));
      if (shard <= THREADS) {
        eventually().until(() -> seen.containsKey(shard));
      }
    }

    mayGoOn.countDown();

    eventually().until(() -> seen.size() == SHARDS.size());
    looks.destroy();
    return new FourLooks(seen, redis.roundTrips());
  }

  /** The stock of a shard is its number. */
  private static Object reply(List<String> command) {
    return SHARDS.stream()
        .filter(shard -> command.contains(RedisKeys.stock(shard)))
        .map(shard -> List.of(shard, 0L))
        .findFirst()
        .orElseThrow();
  }

  private void begin(ShardLooks looks, long shard) {
    begin(looks, shard, mayGoOn, stock -> answered.incrementAndGet());
  }

  private static void begin(
      ShardLooks looks, long shard, CountDownLatch mayGoOn, Consumer<@Nullable ShardStock> seen) {
    looks.begin(
        shard,
        new Demand(0, Duration.ZERO),
        stock -> {
          seen.accept(stock);
          Bounded.await(mayGoOn);
        });
  }
}
