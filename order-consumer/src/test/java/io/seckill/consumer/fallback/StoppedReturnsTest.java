package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.runtime.IdlePools;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;

class StoppedReturnsTest {

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final FallbackDatabase mysql = new FallbackDatabase(IdlePools.create(meters), meters);

  /** Without MySQL each would wait for a connection. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aSaleWhoseRowIsLockedKeepsNoOtherStopped(boolean isMySqlAway) {
    RuntimeException failure =
        isMySqlAway
            ? new CannotGetJdbcConnectionException("for the test")
            : new CannotAcquireLockException("for the test");
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
            throw failure;
          }
        };
    AtomicLong nanos = new AtomicLong();
    StoppedReturns stopped = new StoppedReturns(sales, nanos::get);
    stopped.resume();
    nanos.addAndGet(Duration.ofSeconds(5).toNanos());

    Throwable thrown = catchThrowable(stopped::resume);

    assertThat(thrown).isSameAs(isMySqlAway ? failure : null);
    assertThat(tried).hasSize(isMySqlAway ? 1 : 2).doesNotHaveDuplicates();
  }
}
