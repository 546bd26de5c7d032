package io.seckill.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.catalogue.TestProducts;
import io.seckill.gateway.fallback.TestPromises;
import io.seckill.gateway.ops.HealthReport.Component;
import io.seckill.gateway.verification.VerifiedServers;
import io.seckill.testing.CannedRedis;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdmissionHealthTest {

  private static final int PARTITIONS = 16;

  /**
   * The breakers of the partitions below {@code open} are open, those from {@code unverified} on
   * are not verified.
   */
  @ParameterizedTest
  @CsvSource({
    "0, 16, false, 0, UP,",
    "0, 11, false, 0, DEGRADED, 'with MySQL yet: partitions [11, 12, 13, 14, 15].'",
    "0, 11, true, 0, DEGRADED, 'may forget orders: partitions [11, 12, 13, 14, 15].'",
    "0, 15, false, 2, DEGRADED, 'partitions [15]. 2 SKUs are quarantined:'",
    "0, 16, false, 2, DEGRADED, 2 SKUs are quarantined:",
    "0, 0, false, 0, DOWN, The data of Redis has not been compared with MySQL yet.",
    "0, 0, true, 0, DOWN, Redis is not sold from while it may forget orders.",
    "2, 16, false, 0, DEGRADED, 'The circuit breaker to Redis is open: partitions [0, 1].'",
    "16, 16, false, 0, DOWN, The circuit breaker to Redis is open.",
    "2, 15, false, 0, DEGRADED, 'partitions [0, 1]. The data of Redis has not been'",
    "2, 2, false, 0, DOWN, 'partitions [0, 1]. The data of Redis has not been'",
    "4, 2, false, 0, DOWN, 'partitions [0, 1, 2, 3]. The data of Redis has not been'",
    "15, 15, true, 0, DOWN, 'may forget orders: partitions [15].'"
  })
  void isDownWhenNoPartitionSells(
      int open, int unverified, boolean refuses, int quarantined, String status, String reason) {
    Component health =
        AdmissionHealth.of(
            partitions(0, open), partitions(unverified, PARTITIONS), refuses, quarantined);

    assertThat(health.status()).hasToString(status);
    if (reason == null) {
      assertThat(health.reason()).isNull();
    } else {
      assertThat(health.reason()).contains(reason);
    }
  }

  /** A gateway whose right to confirm has ended sells nothing until MySQL decides. */
  @ParameterizedTest
  @CsvSource({"false, DOWN", "true, DEGRADED"})
  void isDownWhileNoOrderMayBePromised(boolean inFallback, String status) {
    TestPromises fallback = TestPromises.withFallback();
    fallback.begin();
    CannedRedis redis = new CannedRedis(command -> "OK");
    AdmissionHealth health =
        new AdmissionHealth(
            TestProducts.read(inFallback),
            fallback.promises(),
            RedisBreakers.of(redis, new SimpleMeterRegistry()),
            new VerifiedServers(),
            null);

    assertThat(health.present().status()).hasToString(status);
  }

  private static List<Integer> partitions(int from, int to) {
    return IntStream.range(from, to).boxed().toList();
  }
}
