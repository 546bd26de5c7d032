package io.seckill.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.CannedRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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

  /** Nobody could see any lane. */
  @ParameterizedTest
  @CsvSource({
    "a:b:c, 1000, 0",
    "a:99999999999:c, 1000, 0",
    "a::c, 1000, 0",
    "a:0, 1000, 0",
    "relay:1:t, inf, 1",
    "relay:1:t, -inf, 1"
  })
  void aMemberThatIsNoLaneHidesNoOther(String member, String score, int shown) {
    CannedRedis redis =
        new CannedRedis(
            command ->
                command.contains(RedisKeys.outbox(3))
                    ? List.of("1000", 0L, "", 0L, member, score, 0L, "relay:0:t", "2000", 5L)
                    : List.of("1000", 0L, "", 0L));

    Lanes lanes = new LaneRegistry(redis).read();

    assertThat(lanes.unavailable()).isEmpty();
    assertThat(lanes.lanes()).hasSize(1 + shown);
    assertThat(lanes.lanes()).anySatisfy(lane -> assertThat(lane.privateQueue()).isEqualTo(5));
  }
}
