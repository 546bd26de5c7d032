package io.seckill.relay.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisSettings;
import io.seckill.common.redis.RedisSettings.Mode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LeaseSettingsTest {

  /** A frozen node costs the first round a time-out for each of its partitions. */
  @ParameterizedTest
  @CsvSource({"CLUSTER, 2000, 500", "CLUSTER, 250, 250", "SINGLE, 2000, 2000"})
  void aRoundOnAClusterEndsBeforeALeaseDoes(Mode mode, long timeoutMs, long ofRenewalsMs) {
    RedisSettings redis =
        new RedisSettings(
            mode,
            "redis://127.0.0.1:1",
            mode == Mode.CLUSTER ? List.of("127.0.0.1:1") : List.of(),
            null,
            32,
            Duration.ofMillis(timeoutMs),
            null);

    RedisSettings renewals = LeaseSettings.DEFAULT.forRenewals(redis);

    assertThat(renewals.socketTimeout()).hasMillis(ofRenewalsMs);
    assertThat(renewals.maxConnections()).isEqualTo(1);
  }
}
