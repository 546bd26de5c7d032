package io.seckill.gateway.security;

import io.seckill.support.web.DemoMode;
import io.seckill.support.web.ProblemCode;
import java.time.Clock;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import reactor.core.publisher.Mono;

/**
 * Creates the beans that verify tokens, which need a secret or a key set, those that issue tokens,
 * and the rate limits.
 */
@Configuration(proxyBeanMethods = false)
class SecurityConfiguration {

  @Bean
  WarmUpKey warmUpKey() {
    return new WarmUpKey();
  }

  @Bean
  TokenVerifier tokenVerifier(SecurityProperties settings, WarmUpKey warmUpKey) {
    return new TokenVerifier(settings, warmUpKey, Clock.systemUTC());
  }

  @Bean
  DemoTokens demoTokens(SecurityProperties settings, DemoMode demo, Environment environment) {
    boolean production = environment.matchesProfiles("prod", "production");
    return new DemoTokens(settings, demo, production, Clock.systemUTC());
  }

  @Bean
  WarmUpTokens warmUpTokens(SecurityProperties settings, WarmUpKey key) {
    return new WarmUpTokens(settings, key, Clock.systemUTC());
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
