package io.seckill.gateway.security;

import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Makes the one {@link TokenVerifier} of this gateway; there is none without a secret. */
@Configuration(proxyBeanMethods = false)
class SecurityConfiguration {

  @Bean
  TokenVerifier tokenVerifier(SecurityProperties settings) {
    return new TokenVerifier(settings, Clock.systemUTC());
  }
}
