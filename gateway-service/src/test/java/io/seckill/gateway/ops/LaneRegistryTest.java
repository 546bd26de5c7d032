package io.seckill.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.CannedRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LaneRegistryTest {

  /** See {@link RedisKeys#absent}. */
  @Test
  void namesASecondKeyOfEachPartition() {
    List<List<String>> keys = new ArrayList<>();
    CannedRedis redis =
        new CannedRedis(
            command -> {
              keys.add(CannedRedis.keysOf(command));
              return List.of("1000", 0L, "", 0L);
            });

    assertThat(new LaneRegistry(redis).read().unavailable()).isEmpty();

    assertThat(keys)
        .isEqualTo(
            IntStream.range(0, Partition.COUNT)
                .mapToObj(p -> List.of(RedisKeys.outbox(p), RedisKeys.absent(p)))
                .toList());
  }
}
