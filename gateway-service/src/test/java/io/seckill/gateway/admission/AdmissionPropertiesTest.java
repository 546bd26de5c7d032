package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.redis.RedisSettings;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AdmissionPropertiesTest {

  private static final Duration AMPLE = Duration.ofSeconds(1);

  @ParameterizedTest
  @CsvSource({
    "REDIS, -1, replicas must be 0..16",
    "REDIS, 1, durable-in=replicas",
    "REPLICAS, 0, replicas must be 1..16"
  })
  void refusesASettingThatCannotBeRight(Durability.Store durableIn, int replicas, String message) {
    assertThatThrownBy(() -> durableIn(durableIn, replicas))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 64, 4096, threads must be 1..64",
    "65, 64, 4096, threads must be 1..64",
    "3, 0, 4096, max-batch must be 1..64",
    "3, 65, 4096, max-batch must be 1..64",
    "3, 64, 0, queue-capacity must be 1..1000000",
    "3, 64, 1000001, queue-capacity must be 1..1000000"
  })
  void refusesANumberOutOfBounds(int threads, int maxBatch, int queueCapacity, String refusal) {
    assertThatThrownBy(
            () ->
                new AdmissionProperties(
                    threads, maxBatch, queueCapacity, AMPLE, Durability.Store.REDIS, 0, AMPLE))
        .hasMessage("seckill.admission." + refusal);
  }

  @ParameterizedTest
  @CsvSource({
    "PT0.199S, PT0S, answer-within must be 200ms..30s",
    "PT30.001S, PT0S, answer-within must be 200ms..30s",
    "PT9000000000000H, PT0S, answer-within must be 200ms..30s",
    "PT1S, PT-0.001S, sold-out-shield must be 0s..5s",
    "PT1S, PT5.001S, sold-out-shield must be 0s..5s",
    "PT1S, PT9000000000000H, sold-out-shield must be 0s..5s"
  })
  void refusesATimeOutOfBounds(Duration answerWithin, Duration shield, String refusal) {
    assertThatThrownBy(
            () ->
                new AdmissionProperties(
                    3, 64, 4_096, answerWithin, Durability.Store.REDIS, 0, shield))
        .hasMessage("seckill.admission." + refusal);
  }

  /** Of 170 ms, a call counts as slow from 102 ms; the replicas have 100 ms. */
  @Test
  void refusesATimeoutOfRedisThatIsTooShortForReplicas() {
    RedisSettings redis = RedisSettings.single("redis://127.0.0.1:1");
    RedisSettings brief = redis.withSocketTimeout(Duration.ofMillis(169));
    AdmissionProperties inReplicas = durableIn(Durability.Store.REPLICAS, 1);

    assertThatThrownBy(() -> inReplicas.checkWith(brief))
        .hasMessageContaining("seckill.redis.socket-timeout")
        .hasMessageContaining("seckill.admission.durable-in=replicas");
    inReplicas.checkWith(redis.withSocketTimeout(Duration.ofMillis(170)));
    durableIn(Durability.Store.REDIS, 0).checkWith(brief);
  }

  private static AdmissionProperties durableIn(Durability.Store durableIn, int replicas) {
    return new AdmissionProperties(3, 64, 4_096, AMPLE, durableIn, replicas, AMPLE);
  }
}
