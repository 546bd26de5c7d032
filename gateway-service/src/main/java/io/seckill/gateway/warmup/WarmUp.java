package io.seckill.gateway.warmup;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.seckill.gateway.security.RateLimits;
import io.seckill.gateway.security.WarmUpTokens;
import io.seckill.support.web.PathIds;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
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
import reactor.netty.NettyOutbound;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.client.HttpClientRequest;
import reactor.netty.resources.ConnectionProvider;
import reactor.netty.resources.LoopResources;

/**
 * Warms up a new gateway: once the shoppers' port is open, the gateway sends itself purchases of a
 * SKU that is never on sale, until the configured number or time is reached, or a purchase gets no
 * answer. A refusal writes nothing, so no store is changed. No rate limit applies. The warm-up
 * always ends, and never makes the start fail. Until then the gateway is out of service, and so not
 * ready.
 */
@Component
final class WarmUp implements SmartLifecycle, ReactiveHealthIndicator {

  private static final Logger log = LoggerFactory.getLogger(WarmUp.class);

  private final WarmUpProperties settings;
  private final WarmUpTokens tokens;
  private final RateLimits limits;
  private final Environment environment;
  private final WarmUpAnswers answers = new WarmUpAnswers();
  private volatile boolean ended;
  private volatile @Nullable Throwable failure;
  private volatile @Nullable Disposable running;

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
      buyFrom(new LoopbackShopper(port, tokens, limits.warmUpSecret()));
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

  /** Counts the answers to the warm-up's purchases. Thread-safe. */
  static final class WarmUpAnswers {

    /** There is no such SKU: only the script in Redis gives this answer. */
    private static final int UNKNOWN_SKU = 404;

    private final Map<Integer, Integer> byStatus = new ConcurrentSkipListMap<>();

    void add(int status) {
      byStatus.merge(status, 1, Integer::sum);
    }

    int count() {
      return byStatus.values().stream().mapToInt(Integer::intValue).sum();
    }

    String whatIsWarm() {
      int byRedis = byStatus.getOrDefault(UNKNOWN_SKU, 0);
      if (byRedis > count() / 2) {
        return "warm is all of a purchase's way but its admission";
      }
      return count() == 0
          ? "nothing is warm"
          : "warm is HTTP, little or nothing of what is behind it";
    }

    @Override
    public String toString() {
      return byStatus.toString();
    }
  }

  /**
   * Buys a SKU that is never on sale, over HTTP as shoppers do, as many different shoppers. Each
   * purchase is answered that there is no such SKU. Uses one thread and persistent connections;
   * never blocks.
   */
  private static final class LoopbackShopper {

    /** Concurrent purchases, each over its own connection. */
    static final int AT_ONCE = 64;

    private static final String NAME = "warm-up";
    private static final String PATH = "/api/v1/skus/" + PathIds.NEVER_ON_SALE + "/orders";
    private static final byte[] BODY = "{\"quantity\":1}".getBytes(StandardCharsets.US_ASCII);
    private static final int CONNECT_TIMEOUT_MS = 2_000;

    /**
     * Far above the time the gateway allows a purchase, even when a cold start keeps all cores
     * busy.
     */
    private static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(10);

    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(1);

    private final WarmUpTokens tokens;
    private final String secret;
    private final LoopResources loop = LoopResources.create(NAME, 1, true);
    private final ConnectionProvider connections = ConnectionProvider.create(NAME, AT_ONCE);
    private final HttpClient http;

    LoopbackShopper(int port, WarmUpTokens tokens, String secret) {
      this.tokens = tokens;
      this.secret = secret;
      this.http =
          HttpClient.create(connections)
              .runOn(loop)
              .host("127.0.0.1")
              .port(port)
              .disableRetry(true)
              .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MS)
              .responseTimeout(RESPONSE_TIMEOUT);
    }

    /**
     * @param number from 0, different for each purchase
     * @return the status of the answer, or the error that prevented one
     */
    Mono<Integer> buy(int number) {
      return http.post()
          .uri(PATH)
          .send((request, out) -> write(number, request, out))
          .responseSingle((answer, body) -> body.then(Mono.just(answer.status().code())));
    }

    private Publisher<Void> write(int number, HttpClientRequest request, NettyOutbound out) {
      request
          .header(HttpHeaderNames.AUTHORIZATION, "Bearer " + tokens.shopper(number))
          .header(RateLimits.WARM_UP, secret)
          .header("Idempotency-Key", "warm-up-" + number)
          .header(HttpHeaderNames.CONTENT_TYPE, "application/json")
          .header(HttpHeaderNames.CONTENT_LENGTH, Integer.toString(BODY.length));
      return out.sendObject(Unpooled.wrappedBuffer(BODY));
    }

    /**
     * Closes the connections and ends the thread; does not wait for it, and may be called by it.
     */
    void release() {
      connections.disposeLater().then(loop.disposeLater(Duration.ZERO, STOP_TIMEOUT)).subscribe();
    }
  }
}
