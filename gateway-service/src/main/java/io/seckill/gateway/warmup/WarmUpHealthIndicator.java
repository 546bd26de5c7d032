package io.seckill.gateway.warmup;

import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/** Reports out of service, and so not ready, until the warm-up has ended, successful or not. */
@Component("warmUpHealthIndicator")
final class WarmUpHealthIndicator implements ReactiveHealthIndicator {

  private final WarmUp warmUp;

  WarmUpHealthIndicator(WarmUp warmUp) {
    this.warmUp = warmUp;
  }

  @Override
  public Mono<Health> health() {
    return Mono.fromSupplier(() -> warmUp.hasEnded() ? Health.up().build() : warming());
  }

  private Health warming() {
    return Health.outOfService().withDetail("reason", "warming up: " + warmUp.progress()).build();
  }
}
