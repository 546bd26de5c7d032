package io.seckill.gateway.admin;

import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates.Followed;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import java.util.Optional;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Opens, pauses, resumes, closes and extends sales. A change that allows purchases is written to
 * MySQL first and needs both stores. A change that stops purchases is written to Redis first, even
 * when everything else is unavailable, and is recorded there until order-consumer has written it to
 * MySQL. Repeating the same call completes it.
 */
@Component
class SaleControl {

  private static final String ILLEGAL_TRANSITION = "ILLEGAL_TRANSITION";

  private final ConsumerClient consumer;
  private final RedisSaleWriter redis;
  private final BlockingCalls calls;
  private final BlockingCalls longCalls;

  SaleControl(
      ConsumerClient consumer,
      RedisSaleWriter redis,
      @Qualifier("operatorRedisCalls") BlockingCalls calls,
      @Qualifier("preheatCalls") BlockingCalls longCalls) {
    this.consumer = consumer;
    this.redis = redis;
    this.calls = calls;
    this.longCalls = longCalls;
  }

  /** Operations that allow purchases. */
  enum Start {
    OPEN(SaleState.PREHEATED),
    RESUME(SaleState.PAUSED);

    private final SaleState from;

    Start(SaleState from) {
      this.from = from;
    }

    /** A sale that is open already counts as success, so that a call can be repeated. */
    private boolean isLegalIn(SaleState state) {
      return state == from || state == SaleState.OPEN;
    }
  }

  /** Operations that stop purchases. */
  enum Stop {
    PAUSE(SaleState.PAUSED),
    CLOSE(SaleState.CLOSED);

    private final SaleState target;

    Stop(SaleState target) {
      this.target = target;
    }
  }

  /** The outcome of a stop. */
  sealed interface Stopped {

    /** Both stores have the stop. */
    record Everywhere(ProductRow product) implements Stopped {}

    /** Only one store has the stop. */
    record Partly(StopAccepted accepted) implements Stopped {}
  }

  /**
   * Returns the product, once the sale is open in both stores; 409 ILLEGAL_TRANSITION with the
   * state that prevents it, 409 NOT_PREHEATED when Redis does not hold the sale, 409 REDIS_BEHIND
   * when Redis has lost orders, 409 UNSAFE_REDIS when it may lose them, 503 when one of the stores
   * is unavailable.
   */
  Mono<ProductRow> start(Start start, long skuId, String operator) {
    return consumer
        .product(skuId)
        .flatMap(
            product ->
                start.isLegalIn(product.state())
                    ? calls.run(() -> refuse(start, product))
                    : Mono.error(illegal(product.state())))
        .then(Mono.defer(() -> consumer.changeState(skuId, SaleState.OPEN, operator)))
        .flatMap(opened -> calls.call(() -> redis.follow(opened)).flatMap(f -> open(opened, f)));
  }

  private Mono<ProductRow> open(ProductRow opened, Followed followed) {
    return switch (followed) {
      case DONE -> Mono.just(opened);
      case NOT_LOADED -> Mono.error(notPreheated());
      case STOPPED -> Mono.error(illegal(SaleState.PAUSED));
      case NEWER ->
          consumer
              .product(opened.skuId())
              .flatMap(
                  now ->
                      now.state() == SaleState.OPEN && now.stateVersion() > opened.stateVersion()
                          ? Mono.just(now)
                          : Mono.error(illegal(now.state())));
    };
  }

  /**
   * Stops admission in Redis at once, then in MySQL; 409 ILLEGAL_TRANSITION with the state that
   * prevents it, 503 when neither store is known to have the stop.
   */
  Mono<Stopped> stop(Stop stop, long skuId, String operator) {
    return calls
        .<Optional<Boolean>>call(() -> Optional.of(redis.stop(skuId, stop.target, operator)))
        .onErrorReturn(SaleControl::isUnavailable, Optional.empty())
        .flatMap(
            noted ->
                noted.isPresent()
                    ? stopMySql(stop, skuId, operator, noted.get())
                    : stopWithoutRedis(stop, skuId, operator));
  }

  private Mono<Stopped> stopMySql(Stop stop, long skuId, String operator, boolean noted) {
    Mono<Stopped> moved =
        consumer.changeState(skuId, stop.target, operator).map(Stopped.Everywhere::new);
    return noted
        ? moved.onErrorResume(
            SaleControl::isUnavailable, e -> partly(skuId, stop, StopAccepted.Store.MYSQL))
        : moved;
  }

  private Mono<Stopped> stopWithoutRedis(Stop stop, long skuId, String operator) {
    return consumer
        .changeState(skuId, stop.target, operator)
        .onErrorMap(SaleControl::isUnavailable, e -> notTaken())
        .flatMap(
            moved ->
                calls
                    .call(() -> redis.follow(moved))
                    .<Stopped>map(followed -> new Stopped.Everywhere(moved))
                    .onErrorResume(
                        SaleControl::isUnavailable,
                        e -> partly(skuId, stop, StopAccepted.Store.REDIS)));
  }

  private static Mono<Stopped> partly(long skuId, Stop stop, StopAccepted.Store awaiting) {
    return Mono.just(new Stopped.Partly(new StopAccepted(skuId, stop.target, awaiting)));
  }

  /** Whether the outcome is unknown because a store or a service does not answer. */
  private static boolean isUnavailable(Throwable failure) {
    return failure instanceof ProblemException problem && problem.problem().status() == 503;
  }

  private static ProblemException notTaken() {
    return ProblemException.unavailable(
        "STORES_UNAVAILABLE",
        "Neither Redis nor MySQL is known to have taken it; repeat it. The sale may go on.");
  }

  /** Writes a product's later closing time to Redis; does nothing before its first preheat. */
  Mono<ProductRow> extend(ProductRow product) {
    return product.epoch() == 0
        ? Mono.just(product)
        : longCalls.run(() -> redis.extend(product)).thenReturn(product);
  }

  private void refuse(Start start, ProductRow product) {
    if (start == Start.OPEN) { // a resumed sale already has its orders in Redis
      redis.refuseUnsafe();
    }
    if (!redis.isLoaded(product)) {
      throw notPreheated();
    }
    redis.refuseBehind(product);
  }

  private static ProblemException notPreheated() {
    return ProblemException.conflict(
        RedisSaleWriter.NOT_PREHEATED, "Redis does not hold this sale; preheat it first.");
  }

  private static ProblemException illegal(SaleState state) {
    return new ProblemException(
        new Problem(
            409,
            ILLEGAL_TRANSITION,
            "The sale is " + state + "; this call does not open it.",
            null,
            null,
            state.name(),
            null));
  }
}
