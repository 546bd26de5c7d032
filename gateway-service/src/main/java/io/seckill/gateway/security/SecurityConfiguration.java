package io.seckill.gateway.security;

import io.seckill.support.web.ProblemCode;
import java.time.Clock;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** Creates the beans that verify tokens, which need a secret or a key set, and the rate limits. */
@Configuration(proxyBeanMethods = false)
class SecurityConfiguration {

  @Bean
  TokenVerifier tokenVerifier(SecurityProperties settings, WarmUpKey warmUpKey) {
    return new TokenVerifier(settings, warmUpKey, Clock.systemUTC());
  }

  @Bean
  RateLimits rateLimits(RateLimitProperties settings, RunningGateways gateways) {
    return new RateLimits(settings, gateways, System::nanoTime);
  }

  /** Reports out of service, and so not ready, until the issuer's keys have been read once. */
  @Bean
  ReactiveHealthIndicator issuerKeysHealthIndicator(TokenVerifier tokens) {
    return () ->
        Mono.fromSupplier(
            () ->
                tokens.refusal() == ProblemCode.UNAUTHORIZED
                    ? Health.up().build()
                    : Health.outOfService()
                        .withDetail("reason", "seckill.security.jwk-set-uri has not been read yet")
                        .build());
  }
}
