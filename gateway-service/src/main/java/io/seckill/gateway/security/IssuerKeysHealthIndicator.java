package io.seckill.gateway.security;

import io.seckill.support.web.ProblemCode;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/** Reports out of service, and so not ready, until the issuer's keys have been read once. */
@Component("issuerKeysHealthIndicator")
final class IssuerKeysHealthIndicator implements ReactiveHealthIndicator {

  private final TokenVerifier tokens;

  IssuerKeysHealthIndicator(TokenVerifier tokens) {
    this.tokens = tokens;
  }

  @Override
  public Mono<Health> health() {
    return Mono.fromSupplier(
        () -> tokens.refusal() == ProblemCode.UNAUTHORIZED ? Health.up().build() : unread());
  }

  private static Health unread() {
    return Health.outOfService()
        .withDetail("reason", "seckill.security.jwk-set-uri has not been read yet")
        .build();
  }
}
