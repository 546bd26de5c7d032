package io.seckill.gateway.warmup;

import io.seckill.gateway.security.WarmUpTokens;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SignalType;

/**
 * Warms up a new gateway: once the shoppers' port is open, the gateway sends itself purchases of a
 * SKU that is never on sale, until the configured number or time is reached, or a purchase gets no
 * answer. A refusal writes nothing, so no store is changed. The warm-up always ends, and never
 * makes the start fail. Until then the gateway is out of service, and so not ready.
 */
@Component
final class WarmUp implements SmartLifecycle, ReactiveHealthIndicator {

  private static final Logger log = LoggerFactory.getLogger(WarmUp.class);

  private final WarmUpProperties settings;
  private final WarmUpTokens tokens;
  private final Environment environment;
  private final WarmUpAnswers answers = new WarmUpAnswers();
  private volatile boolean ended;
  private volatile @Nullable Throwable failure;
  private volatile @Nullable Disposable running;

  WarmUp(WarmUpProperties settings, WarmUpTokens tokens, Environment environment) {
    this.settings = settings;
    this.tokens = tokens;
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
      buyFrom(new LoopbackShopper(port, tokens));
    }
  }

  /** After the time limit no purchase begins; those in progress are answered within moments. */
  private void buyFrom(LoopbackShopper shopper) {
    long startNanos = System.nanoTime();
    long atMostNanos = settings.atMost().toNanos();
    running =
        Flux.range(0, settings.requests())
            .takeWhile(n -> System.nanoTime() - startNanos < atMostNanos)
            .flatMap(shopper::buy, LoopbackShopper.AT_ONCE)
            .doFinally(signal -> end(shopper, signal, System.nanoTime() - startNanos))
            .subscribe(answers::add, reason -> failure = reason);
  }

  private void end(LoopbackShopper shopper, SignalType signal, long nanos) {
    ended = true;
    tokens.end();
    shopper.release();
    log.info(
        "warm-up ended after {} ms{}: {} of {} purchases answered {}; {}",
        nanos / 1_000_000,
        signal == SignalType.ON_ERROR ? " by " + failure : "",
        answers.count(),
        settings.requests(),
        answers,
        answers.whatIsWarm());
  }

  /** Ends the warm-up at once; called before the servers stop. */
  @Override
  public void stop() {
    Disposable purchases = running;
    if (purchases != null) {
      running = null;
      purchases.dispose();
    }
  }

  @Override
  public boolean isRunning() {
    return running != null;
  }
}
