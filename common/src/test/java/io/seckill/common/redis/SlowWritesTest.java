package io.seckill.common.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisNodes.SlowWrites;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SlowWritesTest {

  private static final long NOW = 1_000_000;

  @ParameterizedTest
  @CsvSource({
    "aof-fsync-always, 0, 250, 0.25",
    "aof-write-pending-fsync, 10, 101, 0.101",
    "aof-write, 60, 3000, 3.0",
    "aof-fsync-always, 61, 250, 0", // over
    "command, 0, 250, 0", // another cause
    "eventloop, 0, 250, 0",
    "expire-cycle, 0, 250, 0"
  })
  void readsTheLatestSlowWriteOfTheLastMinute(
      String event, long secondsAgo, long ms, double seconds) {
    assertThat(SlowWrites.longest(List.of(spike(event, secondsAgo, ms)), NOW)).isEqualTo(seconds);
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "1, 0.1", "2, 0.2"})
  void takesTheLongestOfSeveral(int events, double seconds) {
    List<?> latest =
        List.of(spike("aof-write", 0, 100), spike("aof-fsync-always", 5, 200)).subList(0, events);

    assertThat(SlowWrites.longest(latest, NOW)).isEqualTo(seconds);
  }

  private static List<?> spike(String event, long secondsAgo, long ms) {
    return List.of(event.getBytes(US_ASCII), NOW - secondsAgo, ms, 9_999L);
  }
}
