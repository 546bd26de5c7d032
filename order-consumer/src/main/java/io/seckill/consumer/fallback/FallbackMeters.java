package io.seckill.consumer.fallback;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.fallback.FallbackSales.InFallback;
import java.util.List;
import org.springframework.stereotype.Component;

@Component
class FallbackMeters {

  private final Counter entered;
  private final Counter left;
  private volatile boolean on;
  private volatile long reserved;

  FallbackMeters(MeterRegistry meters) {
    Gauge.builder("seckill.fallback.mode", this, m -> m.on ? 1 : 0)
        .description("1 while MySQL decides the sales of Redis, or the switch is under way")
        .register(meters);
    Gauge.builder("seckill.fallback.reserved", this, m -> m.reserved)
        .description("Units kept for orders that Redis may have promised")
        .register(meters);
    entered =
        Counter.builder("seckill.fallback.entered")
            .description("Fallbacks begun by this process")
            .register(meters);
    left =
        Counter.builder("seckill.fallback.left")
            .description("Fallbacks ended by this process")
            .register(meters);
  }

  void show(SalePhase state, List<InFallback> sales) {
    on = !state.redisDecides();
    reserved = sales.stream().mapToLong(InFallback::reservedUnits).sum();
  }

  void entered() {
    entered.increment();
  }

  void left() {
    left.increment();
  }
}
