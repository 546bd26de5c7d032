package io.seckill.consumer.shards;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullUnmarked;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@NullUnmarked // the servers of the objects that are replaced here
class ShardReaderTest {

  private static final long NOW = 1_790_000_000_000L;

  /** The units that all gateways ask for, and since when the first purchase of any waits. */
  @ParameterizedTest
  @CsvSource({
    ", 0, 0",
    "nonsense, 0, 0",
    "3:1789999999900@aaaa, 3, 100",
    "1:1789999999990@bbbb 9:1789999999800@aaaa, 10, 200",
    "9:1789999999800@aaaa 1:1789999999990@bbbb 2:1789999999995@c7, 12, 200",
    "1:1789999999990@bbbb 9:1789999999500@over, 1, 10",
    "1:1790000000100@ahead, 1, 0",
    "1:1790000000500@set-back, 0, 0"
  })
  void demandsOfGatewaysAddUp(@Nullable String asked, long units, long longestMs) {
    ShardState state = ShardReader.state(7, List.of(NOW, 1L, 0L, 20L, asked == null ? "" : asked));

    assertThat(state.asked()).isEqualTo(units);
    assertThat(state.askedForMs()).isEqualTo(longestMs);
  }

  /** Of sixteen shards on three primaries five are on one that hangs. */
  @Test
  void shardsThatHangKeepNoOtherWaiting() {
    CountDownLatch released = new CountDownLatch(1);
    AtomicInteger calls = new AtomicInteger();
    List<ExpectedSale> shards =
        Shards.ids(7, 16).stream().map(id -> new ExpectedSale(id, 1, 0, 0, "")).toList();
    ShardReader reader =
        new ShardReader(null, apart(), Duration.ofSeconds(4)) {
          @Override
          List<?> call(ExpectedSale shard) {
            calls.incrementAndGet();
            if (hangs(shard.id())) {
              Bounded.await(released);
            }
            return List.of(NOW, 1L, 0L, 20L, "");
          }
        };

    List<Long> living = shards.stream().map(ExpectedSale::id).filter(id -> !hangs(id)).toList();
    for (int looks = 1; looks <= 3; looks++) {
      assertThat(reader.read(shards)).extracting(ShardState::id).isEqualTo(living);
      assertThat(calls).as("one call to each that hangs").hasValue(5 + looks * 11);
    }
    released.countDown();
    eventually().until(() -> reader.read(shards).size() == 16);
    reader.stop();
  }

  /** Each was read on its own, every 50 ms. */
  @Test
  void oneServerIsAskedForAllShardsInOneRoundTrip() {
    CannedRedis redis = new CannedRedis(command -> List.of(NOW, 1L, 0L, 20L, ""));
    ShardReader reader =
        new ShardReader(redis, new RedisCallGuard(redis, new SimpleMeterRegistry()));
    List<Long> ids = Shards.ids(7, 16);

    List<ShardState> read =
        reader.read(ids.stream().map(id -> new ExpectedSale(id, 1, 0, 0, "")).toList());

    assertThat(read).extracting(ShardState::id).isEqualTo(ids);
    assertThat(redis.roundTrips()).isEqualTo(1);
    reader.stop();
  }

  private static boolean hangs(long shard) {
    return Shards.shard(shard) % 3 == 1;
  }

  /** As on a cluster: each partition may be unavailable alone. */
  private static RedisCallGuard apart() {
    return new RedisCallGuard(null, new SimpleMeterRegistry()) {
      @Override
      public int parts() {
        return Partition.COUNT;
      }

      @Override
      public int partOf(long skuId) {
        return Partition.ofSku(skuId);
      }

      @Override
      public boolean run(int part, Runnable work) {
        work.run();
        return true;
      }
    };
  }
}
