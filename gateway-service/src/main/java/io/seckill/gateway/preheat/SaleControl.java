package io.seckill.gateway.preheat;

import io.seckill.gateway.consumer.ConsumerClient;
import io.seckill.gateway.consumer.Product;
import io.seckill.gateway.consumer.SaleState;
import io.seckill.gateway.stores.BlockingCalls;
import io.seckill.gateway.web.Problem;
import io.seckill.gateway.web.ProblemException;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Opens, pauses, resumes and closes sales, and lets them run longer. What lets shoppers in goes to
 * MySQL first, what keeps them out to Redis first, so that a crash between the two never sells what
 * MySQL calls closed for good; repeating the same call completes it.
 */
@Component
public class SaleControl {

  private static final String ILLEGAL_TRANSITION = "ILLEGAL_TRANSITION";

  private final ConsumerClient consumer;
  private final SaleInRedis redis;
  private final BlockingCalls calls;

  SaleControl(
      ConsumerClient consumer, SaleInRedis redis, @Qualifier("redisCalls") BlockingCalls calls) {
    this.consumer = consumer;
    this.redis = redis;
    this.calls = calls;
  }

  /** What an operator may ask for. */
  public enum Action {
    OPEN(SaleState.OPEN),
    PAUSE(SaleState.PAUSED),
    RESUME(SaleState.OPEN),
    CLOSE(SaleState.CLOSED);

    private final SaleState target;

    Action(SaleState target) {
      this.target = target;
    }

    /** Being there already is success, so that a call can be repeated. */
    private boolean isLegalIn(SaleState state) {
      return state == target
          || switch (this) {
            case OPEN -> state == SaleState.PREHEATED;
            case PAUSE -> state == SaleState.OPEN;
            case RESUME -> state == SaleState.PAUSED;
            case CLOSE -> state == SaleState.OPEN || state == SaleState.PAUSED;
          };
    }

    private boolean letsShoppersIn() {
      return target == SaleState.OPEN;
    }
  }

  /**
   * The product in its new state, once both stores agree; 409 ILLEGAL_TRANSITION with the state
   * that stands in the way, 409 NOT_PREHEATED when Redis has nothing to open, 409 UNSAFE_REDIS when
   * it may forget orders.
   */
  public Mono<Product> run(Action action, long skuId, String operator) {
    return consumer
        .product(skuId)
        .flatMap(
            product -> {
              if (!action.isLegalIn(product.state())) {
                return Mono.error(illegal(action, product));
              }
              return action.letsShoppersIn()
                  ? letIn(action, product, operator)
                  : keepOut(action, product, operator);
            });
  }

  private Mono<Product> letIn(Action action, Product product, String operator) {
    return calls
        .run(() -> refuse(action, product))
        .then(Mono.defer(() -> consumer.changeState(product.skuId(), action.target, operator)))
        .flatMap(moved -> calls.run(() -> followLoaded(moved, action.target)))
        .then(Mono.defer(() -> consumer.product(product.skuId())))
        .flatMap(now -> agree(action, now));
  }

  /** Another operator may have closed the door between our two halves: MySQL's state wins. */
  private Mono<Product> agree(Action action, Product now) {
    return now.state() == action.target
        ? Mono.just(now)
        : calls
            .run(() -> redis.follow(now, now.state()))
            .then(Mono.error(() -> illegal(action, now)));
  }

  private Mono<Product> keepOut(Action action, Product product, String operator) {
    // Redis without the sale sells nothing, so MySQL may follow.
    return calls
        .run(() -> redis.follow(product, action.target))
        .then(Mono.defer(() -> consumer.changeState(product.skuId(), action.target, operator)));
  }

  /** Brings a product's later closing time to Redis; nothing to do before its first preheat. */
  public Mono<Product> extend(Product product) {
    return product.epoch() == 0
        ? Mono.just(product)
        : calls.run(() -> redis.extend(product)).thenReturn(product);
  }

  private void refuse(Action action, Product product) {
    if (action == Action.OPEN) { // a sale that is only resumed has its orders there already
      redis.refuseUnsafe();
    }
    if (!redis.isLoaded(product)) {
      throw notPreheated();
    }
  }

  private void followLoaded(Product product, SaleState state) {
    if (!redis.follow(product, state)) {
      throw notPreheated();
    }
  }

  private static ProblemException notPreheated() {
    return ProblemException.conflict(
        SaleInRedis.NOT_PREHEATED, "Redis does not hold this sale; preheat it first.");
  }

  private static ProblemException illegal(Action action, Product product) {
    return new ProblemException(
        new Problem(
            409,
            ILLEGAL_TRANSITION,
            "A sale that is " + product.state() + " cannot become " + action.target + ".",
            null,
            null,
            product.state().name(),
            null));
  }
}
