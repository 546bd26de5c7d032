package io.seckill.consumer.loading;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.seckill.common.redis.AllowUnsafeRedis;
import io.seckill.common.redis.RedisNode;
import io.seckill.common.redis.RedisNode.RedisServerSettings;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisSafetyTest {

  private static final RedisNode PRIMARY = node("a:1", "master");
  private static final RedisNode REPLICA = node("b:2", "slave", "appendfsync is everysec");
  private static final RedisNode AWAY =
      new RedisNode("c:3", Map.of(), new RedisServerSettings(List.of(), List.of()), 0);

  private static RedisNode node(String address, String role, String... dangers) {
    return new RedisNode(
        address,
        Map.of("role", role),
        new RedisServerSettings(List.of(dangers), List.of("wastes memory")),
        0);
  }

  private static @Nullable ProblemException refusal(AllowUnsafeRedis allowed, RedisNode... nodes) {
    PreheatProperties settings = new PreheatProperties(100, Duration.ofDays(2), allowed);
    return catchThrowableOfType(
        ProblemException.class, () -> new RedisSafety(null, settings).refuseUnsafe(List.of(nodes)));
  }

  @ParameterizedTest
  @CsvSource({"TRUE, false", "FALSE, true", "NEVER, true"})
  void noSaleBeginsWhereAnyServerMayLoseOrders(AllowUnsafeRedis allowed, boolean isRefused) {
    assertThat(refusal(allowed, PRIMARY, AWAY)).isNull();

    ProblemException refusal = refusal(allowed, PRIMARY, REPLICA, AWAY);

    assertThat(refusal != null).isEqualTo(isRefused);
    if (refusal != null) {
      assertThat(refusal.problem().code()).isEqualTo(ProblemCode.UNSAFE_REDIS);
      assertThat(refusal.problem().detail())
          .isEqualTo("Redis may forget orders: replica b:2: appendfsync is everysec.");
    }
  }
}
