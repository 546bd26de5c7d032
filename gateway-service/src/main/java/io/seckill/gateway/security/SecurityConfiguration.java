package io.seckill.gateway.security;

import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

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
  DemoTokens demoTokens(SecurityProperties settings, DemoProperties demo, Environment environment) {
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
}
