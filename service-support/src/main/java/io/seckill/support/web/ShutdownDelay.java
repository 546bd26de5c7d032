package io.seckill.support.web;

import static io.seckill.common.settings.SettingChecks.check;
import static io.seckill.common.settings.SettingChecks.isWithin;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * How long a service that has received SIGTERM continues while its readiness is 503, so that load
 * balancers send it nothing new when it stops.
 *
 * @param delay 0 s..60 s, longer than the balancers take to notice; 0 s where none asks
 */
@ConfigurationProperties("seckill.shutdown")
public record ShutdownDelay(@DefaultValue("0s") Duration delay) {

  public ShutdownDelay {
    check(
        isWithin(delay, Duration.ZERO, Duration.ofSeconds(60)),
        "seckill.shutdown.delay must be 0s..60s");
  }

  /** Runs before anything else stops; Spring Boot has withdrawn the readiness already. */
  @EventListener(ContextClosedEvent.class)
  @Order(Ordered.HIGHEST_PRECEDENCE)
  void pass() throws InterruptedException {
    boolean unused = new CountDownLatch(1).await(delay.toMillis(), TimeUnit.MILLISECONDS);
  }
}
