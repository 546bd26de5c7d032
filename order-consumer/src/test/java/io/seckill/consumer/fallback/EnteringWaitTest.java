package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.FallbackMode;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.fallback.FallbackTable.Row;
import io.seckill.consumer.fallback.GatewayTable.Overview;
import io.seckill.support.contract.Heartbeat.BreakerState;
import io.seckill.support.contract.Heartbeat.RedisView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class EnteringWaitTest {

  private static final long TERM = 3;

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5); // it may overflow
  private final EnteringWait wait = new EnteringWait(nanos::get);

  @Test
  void countsFromTheFirstReadAlthoughTheStateChangedLongBefore() {
    assertThat(wait.isOver(seen(TERM, silent()))).isFalse();
    pass(2_999);
    assertThat(wait.isOver(seen(TERM, silent()))).isFalse();
    pass(1);
    assertThat(wait.isOver(seen(TERM, silent()))).isTrue();
  }

  @Test
  void countsAnotherTermAnew() {
    wait.isOver(seen(TERM, silent()));
    pass(3_000);

    assertThat(wait.isOver(seen(TERM + 1, silent()))).isFalse();
    pass(3_000);
    assertThat(wait.isOver(seen(TERM + 1, silent()))).isTrue();
  }

  @Test
  void waitsLongerForAGatewayThatTransfers() {
    wait.isOver(seen(TERM, node(TERM, 0, 0)));
    pass(14_999);
    assertThat(wait.isOver(seen(TERM, node(TERM, 0, 0)))).isFalse();
    pass(1);
    assertThat(wait.isOver(seen(TERM, node(TERM, 0, 0)))).isTrue();
  }

  @Test
  void isOverAtOnceWhenAllHaveTransferred() {
    assertThat(wait.isOver(seen(TERM, node(TERM, TERM, 0)))).isTrue();
  }

  private void pass(long ms) {
    nanos.addAndGet(Duration.ofMillis(ms).toNanos());
  }

  private static Overview seen(long term, GatewayNode node) {
    Instant longAgo = Instant.EPOCH; // where the commit took long
    return new Overview(
        new Row(SalePhase.ENTERING, term, "operator", longAgo, longAgo, 50, 3),
        new Gateways(List.of(node)));
  }

  /** A gateway that has not seen the term, and may go on confirming for two seconds. */
  private static GatewayNode silent() {
    return node(0, 0, 60_000);
  }

  private static GatewayNode node(long term, long transferred, long heardMsAgo) {
    return new GatewayNode(
        "gateway",
        FallbackMode.MANUAL,
        term,
        transferred,
        true,
        RedisView.UNUSABLE,
        0,
        BreakerState.CLOSED,
        0,
        0,
        heardMsAgo);
  }
}
