package io.seckill.gateway.preheat;

import io.seckill.common.sale.SaleStates.Followed;
import io.seckill.gateway.consumer.ConsumerClient;
import io.seckill.gateway.consumer.Product;
import io.seckill.gateway.consumer.SaleState;
import io.seckill.gateway.stores.BlockingCalls;
import io.seckill.gateway.web.Problem;
import io.seckill.gateway.web.ProblemException;
import java.util.Optional;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Opens, pauses, resumes and closes sales, and lets them run longer. What lets shoppers in goes to
 * MySQL first and needs both stores. What keeps them out goes to Redis first, whoever else is away,
 * and is noted there until MySQL has it; order-consumer carries it there. Repeating the same call
 * completes it.
 */
@Component
public class SaleControl {

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

  /** What an operator may ask for to let shoppers in. */
  public enum Start {
    OPEN(SaleState.PREHEATED),
    RESUME(SaleState.PAUSED);

    private final SaleState from;

    Start(SaleState from) {
      this.from = from;
    }

    /** Being open already is success, so that a call can be repeated. */
    private boolean isLegalIn(SaleState state) {
      return state == from || state == SaleState.OPEN;
    }
  }

  /** What an operator may ask for to keep shoppers out. */
  public enum Stop {
    PAUSE(SaleState.PAUSED),
    CLOSE(SaleState.CLOSED);

    private final SaleState target;

    Stop(SaleState target) {
      this.target = target;
    }
  }

  /** What became of a stop. */
  public sealed interface Stopped {

    /** Both stores have it. */
    record Everywhere(Product product) implements Stopped {}

    /** One store has it. */
    record Partly(StopAccepted accepted) implements Stopped {}
  }

  /**
   * The product, once both stores call it open; 409 ILLEGAL_TRANSITION with the state that stands
   * in the way, 409 NOT_PREHEATED when Redis has nothing to open, 409 REDIS_BEHIND when it has lost
   * orders, 409 UNSAFE_REDIS when it may forget them, 503 when one of the stores is away.
   */
  public Mono<Product> start(Start start, long skuId, String operator) {
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

  private Mono<Product> open(Product opened, Followed followed) {
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
   * stands in the way, 503 when neither store is known to have taken it.
   */
  public Mono<Stopped> stop(Stop stop, long skuId, String operator) {
    return calls
        .<Optional<Boolean>>call(() -> Optional.of(redis.stop(skuId, stop.target, operator)))
        .onErrorReturn(SaleControl::isAway, Optional.empty())
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
            SaleControl::isAway, e -> partly(skuId, stop, StopAccepted.Store.MYSQL))
        : moved;
  }

  private Mono<Stopped> stopWithoutRedis(Stop stop, long skuId, String operator) {
    return consumer
        .changeState(skuId, stop.target, operator)
        .onErrorMap(SaleControl::isAway, e -> notTaken())
        .flatMap(
            moved ->
                calls
                    .call(() -> redis.follow(moved))
                    .<Stopped>map(followed -> new Stopped.Everywhere(moved))
                    .onErrorResume(
                        SaleControl::isAway, e -> partly(skuId, stop, StopAccepted.Store.REDIS)));
  }

  private static Mono<Stopped> partly(long skuId, Stop stop, StopAccepted.Store awaiting) {
    return Mono.just(new Stopped.Partly(new StopAccepted(skuId, stop.target, awaiting)));
  }

  /** Whether the outcome is unknown because a store or a service does not answer. */
  private static boolean isAway(Throwable failure) {
    return failure instanceof ProblemException problem && problem.problem().status() == 503;
  }

  private static ProblemException notTaken() {
    return ProblemException.unavailable(
        "STORES_UNAVAILABLE",
        "Neither Redis nor MySQL is known to have taken it; repeat it. The sale may go on.");
  }

  /** Brings a product's later closing time to Redis; nothing to do before its first preheat. */
  public Mono<Product> extend(Product product) {
    return product.epoch() == 0
        ? Mono.just(product)
        : longCalls.run(() -> redis.extend(product)).thenReturn(product);
  }

  private void refuse(Start start, Product product) {
    if (start == Start.OPEN) { // a sale that is only resumed has its orders there already
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
