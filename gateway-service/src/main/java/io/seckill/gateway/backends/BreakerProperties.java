package io.seckill.gateway.backends;

import static io.seckill.common.settings.SettingChecks.check;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * When the circuit breaker around Redis opens and closes. The library's own defaults would hide an
 * outage for minutes.
 *
 * @param window number of latest calls evaluated, 2..1000
 * @param minimumCalls fewest calls before it may open, 1..window
 * @param failurePercent opens from this share of failed calls, 1..100
 * @param slowCall duration from which a call counts as slow
 * @param slowPercent opens from this share of slow calls, 1..100
 * @param openFor time without calls before a few trial calls are made
 * @param trialCalls number of trial calls, 1..100
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
    check(window >= 2 && window <= 1000, "seckill.redis-breaker.window must be 2..1000");
    check(
        minimumCalls >= 1 && minimumCalls <= window,
        "seckill.redis-breaker.minimum-calls must be 1..window");
    check(
        failurePercent >= 1 && failurePercent <= 100,
        "seckill.redis-breaker.failure-percent must be 1..100");
    check(
        slowPercent >= 1 && slowPercent <= 100,
        "seckill.redis-breaker.slow-percent must be 1..100");
    check(slowCall.toMillis() >= 1, "seckill.redis-breaker.slow-call must be at least 1 ms");
    check(openFor.toMillis() >= 10, "seckill.redis-breaker.open-for must be at least 10 ms");
    check(trialCalls >= 1 && trialCalls <= 100, "seckill.redis-breaker.trial-calls must be 1..100");
  }
}
