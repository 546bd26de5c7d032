package io.seckill.gateway.security;

import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** Makes what verifies tokens, of which there is none without a secret, and what hands them out. */
@Configuration(proxyBeanMethods = false)
class SecurityConfiguration {

  @Bean
  TokenVerifier tokenVerifier(SecurityProperties settings) {
    return new TokenVerifier(settings, Clock.systemUTC());
  }

  @Bean
  DemoTokens demoTokens(SecurityProperties settings, DemoProperties demo, Environment environment) {
    boolean production = environment.matchesProfiles("prod", "production");
    return new DemoTokens(settings, demo, production, Clock.systemUTC());
  }

  @Bean
  WarmUpTokens warmUpTokens(SecurityProperties settings) {
    return new WarmUpTokens(settings, Clock.systemUTC());
  }
}
