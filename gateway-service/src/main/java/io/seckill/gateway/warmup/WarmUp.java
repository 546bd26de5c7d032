package io.seckill.gateway.warmup;

import io.seckill.gateway.security.RateLimits;
import io.seckill.gateway.security.WarmUpTokens;
import io.seckill.support.thread.DaemonThreads;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Warms up a new gateway: once the shoppers' port is open, the gateway sends itself purchases of a
 * SKU that is never on sale, until the configured number or time is reached, or a purchase gets no
 * answer. The script refuses them, so no store is changed; the gateway answers them as admitted. No
 * rate limit applies. The warm-up always ends, and never makes the start fail. Until then the
 * gateway is out of service, and so not ready.
 */
@Component
final class WarmUp implements SmartLifecycle, ReactiveHealthIndicator {

  private static final Logger log = LoggerFactory.getLogger(WarmUp.class);

  private final WarmUpProperties settings;
  private final WarmUpTokens tokens;
  private final RateLimits limits;
  private final Environment environment;
  final WarmUpAnswers answers = new WarmUpAnswers();
  private volatile boolean ended;
  private volatile @Nullable LoopbackShopper running;

  WarmUp(
      WarmUpProperties settings, WarmUpTokens tokens, RateLimits limits, Environment environment) {
    this.settings = settings;
    this.tokens = tokens;
    this.limits = limits;
    this.environment = environment;
    this.ended = settings.requests() == 0;
  }

  @Override
  public Mono<Health> health() {
    return Mono.fromSupplier(
        () ->
            ended
                ? Health.up().build()
                : Health.outOfService()
                    .withDetail(
                        "reason", "warming up: " + answers.count() + " of " + settings.requests())
                    .build());
  }

  @Override
  public void start() {
    if (!ended) {
      int port = environment.getRequiredProperty("local.server.port", Integer.class);
      LoopbackShopper shopper = new LoopbackShopper(port, tokens, limits.warmUpSecret());
      running = shopper;
      DaemonThreads.named("warm-up").newThread(() -> buyFrom(shopper)).start();
    }
  }

  /** After the time limit no purchase begins; those in progress are answered within moments. */
  private void buyFrom(LoopbackShopper shopper) {
    long startNanos = System.nanoTime();
    String end = "";
    try (shopper) {
      shopper.connect();
      for (int n = 0;
          n < settings.requests() && System.nanoTime() - startNanos < settings.atMost().toNanos();
          n += LoopbackShopper.AT_ONCE) {
        int count = Math.min(LoopbackShopper.AT_ONCE, settings.requests() - n);
        shopper.buy(n, count).forEach(answers::add);
      }
    } catch (IOException | RuntimeException e) {
      end = " by " + e;
    } finally {
      ended = true;
      tokens.end();
    }
    log.info(
        "warm-up ended after {} ms{}: {} of {} purchases answered {}; {}",
        (System.nanoTime() - startNanos) / 1_000_000,
        end,
        answers.count(),
        settings.requests(),
        answers,
        answers.whatIsWarm());
  }

  /** Ends the warm-up at once; called before the servers stop. */
  @Override
  public void stop() {
    LoopbackShopper shopper = running;
    running = null;
    if (shopper != null) {
      try {
        shopper.close();
      } catch (IOException e) {
        log.warn("a connection of the warm-up was not closed", e);
      }
    }
  }

  @Override
  public boolean isRunning() {
    return running != null;
  }
}
