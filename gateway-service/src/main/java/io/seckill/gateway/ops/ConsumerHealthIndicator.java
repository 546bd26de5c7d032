package io.seckill.gateway.ops;

import io.seckill.gateway.backends.ConsumerClient;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.boot.health.contributor.Status;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Degraded while order-consumer is not ready: purchases are still admitted and orders still shown,
 * so a gateway in this state is better than none.
 */
@Component("consumerHealthIndicator")
final class ConsumerHealthIndicator implements ReactiveHealthIndicator {

  private static final Status DEGRADED = new Status("DEGRADED");

  private final ConsumerClient consumer;

  ConsumerHealthIndicator(ConsumerClient consumer) {
    this.consumer = consumer;
  }

  @Override
  public Mono<Health> health() {
    return consumer.isReady().map(ready -> ready ? Health.up().build() : degraded());
  }

  /** Impaired, but better than no gateway. */
  static Health degraded() {
    return Health.status(DEGRADED).build();
  }
}
