package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.FallbackMode;
import io.seckill.support.contract.Heartbeat.BreakerState;
import io.seckill.support.contract.Heartbeat.RedisView;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GatewaysTest {

  @Test
  void moreThanHalfOfThoseHeardLatelyLoseRedis() {
    assertThat(gateways().haveLostRedis()).isFalse();
    assertThat(gateways(node(RedisView.UNUSABLE, 999, 0)).haveLostRedis()).isFalse();
    assertThat(gateways(node(RedisView.UNUSABLE, 1_000, 2_000)).haveLostRedis()).isTrue();
    assertThat(gateways(node(RedisView.UNUSABLE, 1_000, 2_001)).haveLostRedis()).isFalse();
    assertThat(
            gateways(
                    node(RedisView.UNUSABLE, 5_000, 0),
                    node(RedisView.USABLE, 1, 0),
                    node(RedisView.USABLE, 1, 5_000))
                .haveLostRedis())
        .as("one of two")
        .isFalse();
    assertThat(
            gateways(
                    node(RedisView.UNUSABLE, 5_000, 0),
                    node(RedisView.UNUSABLE, 5_000, 0),
                    node(RedisView.USABLE, 1, 0))
                .haveLostRedis())
        .as("two of three")
        .isTrue();
  }

  @Test
  void allOfThoseHeardLatelyUseRedisAgain() {
    assertThat(gateways().allUseRedisAgain()).isFalse();
    assertThat(gateways(node(RedisView.USABLE, 10_000, 0)).allUseRedisAgain()).isTrue();
    assertThat(
            gateways(node(RedisView.USABLE, 10_000, 0), node(RedisView.USABLE, 9_999, 0))
                .allUseRedisAgain())
        .isFalse();
    assertThat(
            gateways(node(RedisView.USABLE, 10_000, 0), node(RedisView.UNUSABLE, 1, 3_000))
                .allUseRedisAgain())
        .isTrue();
  }

  @Test
  void everyRegisteredGatewayHandsOver() {
    assertThat(gateways().awaited(3)).isEmpty();
    assertThat(gateways(handed(3, 2, true, 0)).awaited(3)).isPresent();
    assertThat(gateways(handed(2, 3, true, 60_000)).awaited(3)).isEmpty();
    assertThat(gateways(handed(3, 2, true, 0)).areTransferring(3)).isTrue();
    assertThat(gateways(handed(2, 2, true, 0)).areTransferring(3)).isFalse();
    assertThat(gateways(handed(3, 2, true, 60_000)).areTransferring(3)).isFalse();
    assertThat(gateways(handed(3, 3, false, 0)).awaited(3)).isEmpty();
    assertThat(gateways(handed(3, 3, false, 0)).haveTransferredAll(3)).isFalse();
    assertThat(gateways(handed(3, 3, true, 0)).haveTransferredAll(3)).isTrue();
  }

  /** Also on a silent one; not on one that has nothing to transfer. */
  @ParameterizedTest
  @CsvSource({
    "AUTOMATIC, 2, 0, true",
    "MANUAL, 2, 30000, true",
    "AUTOMATIC, 3, 0, false",
    "OFF, 0, 0, false"
  })
  void aReturnWaitsForEachPromiseTransfer(
      FallbackMode mode, long over, long heardMsAgo, boolean waits) {
    GatewayNode node =
        new GatewayNode(
            "gateway-2:8080",
            mode,
            3,
            over,
            true,
            RedisView.USABLE,
            60_000,
            BreakerState.CLOSED,
            0,
            0,
            heardMsAgo);

    String hindrance = gateways(handed(3, 3, true, 60_000), node).hindranceToReturn(3);

    if (waits) {
      assertThat(hindrance).contains("The gateway gateway-2:8080 has not", "stop it", "are lost");
    } else {
      assertThat(hindrance).isEmpty();
    }
  }

  @Test
  void aReturnNeedsARedisThatMostGatewaysUse() {
    assertThat(gateways(node(RedisView.UNUSABLE, 0, 0)).hindranceToReturn(0))
        .isEqualTo("Most gateways have no usable Redis.");
    assertThat(gateways(node(RedisView.UNUSABLE, 0, 5_000)).hindranceToReturn(0)).isEmpty();
  }

  private static Gateways gateways(GatewayNode... nodes) {
    return new Gateways(List.of(nodes));
  }

  private static GatewayNode node(RedisView redis, long forMs, long heardMsAgo) {
    return new GatewayNode(
        "gateway",
        FallbackMode.MANUAL,
        0,
        0,
        false,
        redis,
        forMs,
        BreakerState.CLOSED,
        0,
        0,
        heardMsAgo);
  }

  private static GatewayNode handed(long term, long over, boolean complete, long heardMsAgo) {
    return new GatewayNode(
        "gateway",
        FallbackMode.MANUAL,
        term,
        over,
        complete,
        RedisView.UNUSABLE,
        0,
        BreakerState.CLOSED,
        0,
        0,
        heardMsAgo);
  }
}
