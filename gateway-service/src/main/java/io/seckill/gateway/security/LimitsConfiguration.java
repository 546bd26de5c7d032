package io.seckill.gateway.security;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Makes the one {@link RateLimits} of this gateway. */
@Configuration(proxyBeanMethods = false)
class LimitsConfiguration {

  @Bean
  RateLimits rateLimits(RateLimitProperties settings) {
    return new RateLimits(settings, System::nanoTime);
  }
}
