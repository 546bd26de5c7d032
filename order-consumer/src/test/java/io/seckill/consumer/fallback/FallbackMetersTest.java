package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.fallback.FallbackSales.InFallback;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FallbackMetersTest {

  @ParameterizedTest
  @CsvSource({"REDIS, 0", "ENTERING, 1", "MYSQL, 1", "RETURNING, 1"})
  void showTheStateAndWhatIsReserved(SalePhase state, double mode) {
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    FallbackMeters meters = new FallbackMeters(registry);

    meters.show(
        state,
        List.of(
            new InFallback(1_001, SalePhase.MYSQL, 3), new InFallback(1_002, SalePhase.MYSQL, 8)));
    meters.entered();
    meters.entered();
    meters.left();

    assertThat(registry.get("seckill.fallback.mode").gauge().value()).isEqualTo(mode);
    assertThat(registry.get("seckill.fallback.reserved").gauge().value()).isEqualTo(11);
    assertThat(registry.get("seckill.fallback.entered").counter().count()).isEqualTo(2);
    assertThat(registry.get("seckill.fallback.left").counter().count()).isEqualTo(1);
  }
}
