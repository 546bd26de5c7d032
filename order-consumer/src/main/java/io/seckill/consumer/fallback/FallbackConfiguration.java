package io.seckill.consumer.fallback;

import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The periodic tasks of the fallback. */
@Configuration(proxyBeanMethods = false)
class FallbackConfiguration {

  /** Purchases are refused until the next step. */
  private static final Duration STEPS = Duration.ofMillis(250);

  private static final Duration LOOKS = Duration.ofSeconds(1);

  @Bean
  Sweeper fallbackControlSweeper(FallbackControl control) {
    return new Sweeper("fallback", STEPS, control::tick);
  }

  @Bean
  Sweeper fallbackReturnSweeper(FallbackReturn back) {
    return new Sweeper("fallback-return", STEPS, back::round);
  }

  @Bean
  Sweeper fallbackLookSweeper(RedisLooks looks) {
    return new Sweeper("fallback-look", LOOKS, looks::round);
  }
}
