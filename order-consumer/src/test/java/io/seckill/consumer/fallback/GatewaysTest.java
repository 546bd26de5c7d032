package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.FallbackMode;
import io.seckill.support.contract.Heartbeat.BreakerState;
import io.seckill.support.contract.Heartbeat.RedisView;
import java.util.List;
import org.junit.jupiter.api.Test;

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
    assertThat(gateways().haveTransferred(3)).isTrue();
    assertThat(gateways(handed(3, 2, true, 0)).haveTransferred(3)).isFalse();
    assertThat(gateways(handed(3, 2, true, 0)).areTransferring(3)).isTrue();
    assertThat(gateways(handed(2, 2, true, 0)).areTransferring(3)).isFalse();
    assertThat(gateways(handed(3, 2, true, 60_000)).areTransferring(3)).isFalse();
    assertThat(gateways(handed(3, 3, false, 0)).haveTransferred(3)).isTrue();
    assertThat(gateways(handed(3, 3, false, 0)).haveTransferredAll(3)).isFalse();
    assertThat(gateways(handed(3, 3, true, 0)).haveTransferredAll(3)).isTrue();
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
