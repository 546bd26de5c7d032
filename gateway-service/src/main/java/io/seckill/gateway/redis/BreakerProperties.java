package io.seckill.gateway.redis;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * When the circuit breaker around Redis opens and closes. The library's own defaults would hide an
 * outage for minutes.
 *
 * @param window latest calls looked at, 2..1000
 * @param minimumCalls fewest calls before it may open, 1..window
 * @param failurePercent opens from this share of failed calls, 1..100
 * @param slowCall a call is slow from here on
 * @param slowPercent opens from this share of slow calls, 1..100
 * @param openFor how long no call is made before a few are tried again
 * @param trialCalls how many are tried, 1..100
 */
@ConfigurationProperties("seckill.redis-breaker")
record BreakerProperties(
    @DefaultValue("10") int window,
    @DefaultValue("5") int minimumCalls,
    @DefaultValue("50") int failurePercent,
    @DefaultValue("150ms") Duration slowCall,
    @DefaultValue("80") int slowPercent,
    @DefaultValue("400ms") Duration openFor,
    @DefaultValue("3") int trialCalls) {

  BreakerProperties {
    check(window >= 2 && window <= 1000, "window must be 2..1000");
    check(minimumCalls >= 1 && minimumCalls <= window, "minimum-calls must be 1..window");
    check(failurePercent >= 1 && failurePercent <= 100, "failure-percent must be 1..100");
    check(slowPercent >= 1 && slowPercent <= 100, "slow-percent must be 1..100");
    check(slowCall.toMillis() >= 1, "slow-call must be at least 1 ms");
    check(openFor.toMillis() >= 10, "open-for must be at least 10 ms");
    check(trialCalls >= 1 && trialCalls <= 100, "trial-calls must be 1..100");
  }

  private static void check(boolean ok, String otherwise) {
    if (!ok) {
      throw new IllegalArgumentException("seckill.redis-breaker." + otherwise);
    }
  }
}
