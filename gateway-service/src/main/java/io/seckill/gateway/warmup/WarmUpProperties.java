package io.seckill.gateway.warmup;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.isWithin;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How long a new gateway warms up; the limit reached first ends it.
 *
 * @param requests purchases it sends to itself before it is ready, 0..1,000,000; 0 for no warm-up
 * @param atMost longest time for them, 1 s..10 min
 */
@ConfigurationProperties("seckill.warm-up")
record WarmUpProperties(@DefaultValue("0") int requests, @DefaultValue("20s") Duration atMost) {

  private static final int MAX_REQUESTS = 1_000_000;

  WarmUpProperties {
    check(requests >= 0 && requests <= MAX_REQUESTS, "seckill.warm-up.requests must be 0..1000000");
    check(
        isWithin(atMost, Duration.ofSeconds(1), Duration.ofMinutes(10)),
        "seckill.warm-up.at-most must be 1s..10m");
  }
}
