package io.seckill.consumer.fallback;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.sale.FallbackMode;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.runtime.IdlePools;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.NullSource;
import redis.clients.jedis.exceptions.JedisConnectionException;

class FallbackReturnTest {

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final FallbackDatabase mysql = new FallbackDatabase(IdlePools.create(meters), meters);
  private final List<Long> tried = new ArrayList<>();

  private final FallbackSales sales =
      new FallbackSales(mysql) {
        @Override
        List<InFallback> all() {
          return List.of(
              new InFallback(1, SalePhase.MYSQL, 0), new InFallback(2, SalePhase.MYSQL, 0));
        }
      };

  private final FallbackTable table =
      new FallbackTable(mysql, Clock.systemUTC()) {
        @Override
        Row read() {
          return new Row(SalePhase.RETURNING, 1, null, Instant.EPOCH, Instant.EPOCH, 50, 3);
        }
      };

  private static Stream<RuntimeException> failures() {
    return Stream.of(
        new JedisConnectionException("for the test"), new IllegalStateException("for the test"));
  }

  @ParameterizedTest
  @NullSource // it answers
  @MethodSource("failures")
  void aReturnThatFailsKeepsNoOtherSaleFromReturning(@Nullable RuntimeException failure) {
    FallbackReturn returns =
        new FallbackReturn(
            table,
            sales,
            new ReturningControl(),
            (sku, atMost) -> {
              tried.add(sku);
              if (failure != null) {
                throw failure;
              }
              return Optional.of("for the test");
            });

    returns.round();

    assertThat(tried).containsExactly(1L, 2L);
    assertThat(returns.failure(1)).contains("for the test");
  }

  /** The others return first, and each attempt has longer for the orders in flight. */
  @Test
  void aSaleThatCannotReturnRestsAndWaitsLongerEachTime() {
    List<Duration> waits = new ArrayList<>();
    List<Long> nanos = new ArrayList<>();
    FallbackReturn returns =
        new FallbackReturn(
            table,
            sales,
            new ReturningControl(),
            (sku, atMost) -> {
              tried.add(sku);
              if (sku == 2) {
                return Optional.empty();
              }
              waits.add(atMost);
              nanos.add(System.nanoTime());
              return Optional.of("for the test");
            });
    returns.round();

    eventually()
        .until(
            () -> {
              tried.clear();
              returns.round();
              return tried.contains(1L);
            });

    assertThat(tried).containsExactly(2L, 1L);
    assertThat(waits).containsExactly(Duration.ofSeconds(5), Duration.ofSeconds(10));
    assertThat(Duration.ofNanos(nanos.get(1) - nanos.get(0)))
        .isGreaterThanOrEqualTo(Duration.ofSeconds(1));
  }

  private final class ReturningControl extends FallbackControl {

    ReturningControl() {
      super(
          new FallbackProperties(FallbackMode.MANUAL), table, sales, null, null, mysql, null, null);
    }

    @Override
    boolean isReturning() {
      return true;
    }

    @Override
    void end() {}
  }
}
