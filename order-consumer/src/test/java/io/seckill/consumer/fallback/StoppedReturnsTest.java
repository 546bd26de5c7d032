package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.runtime.IdlePools;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;

class StoppedReturnsTest {

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final FallbackDatabase mysql = new FallbackDatabase(IdlePools.create(meters), meters);

  @Test
  void aSaleWhoseRowIsLockedKeepsNoOtherStopped() {
    List<Long> tried = new ArrayList<>();
    FallbackSales sales =
        new FallbackSales(mysql) {
          @Override
          List<InFallback> all() {
            return List.of(
                new InFallback(1, SalePhase.RETURNING, 0),
                new InFallback(2, SalePhase.RETURNING, 0));
          }

          @Override
          boolean resumeStopped(long skuId) {
            tried.add(skuId);
            throw new CannotAcquireLockException("for the test");
          }
        };
    AtomicLong nanos = new AtomicLong();
    StoppedReturns stopped = new StoppedReturns(sales, nanos::get);
    stopped.resume();
    nanos.addAndGet(Duration.ofSeconds(5).toNanos());

    stopped.resume();

    assertThat(tried).containsExactlyInAnyOrder(1L, 2L);
  }
}
