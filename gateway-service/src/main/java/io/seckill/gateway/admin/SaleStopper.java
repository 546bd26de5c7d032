package io.seckill.gateway.admin;

import io.seckill.common.sale.Decider;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.SaleStates.Followed;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.Optional;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Pauses and closes sales, even when everything but Redis is unavailable. A stop is written to
 * Redis first, and is recorded there until order-consumer has written it to MySQL. Repeating the
 * same call completes it. A strong sale is stopped in MySQL, through order-consumer alone.
 */
@Component
class SaleStopper {

  private final ProductCache products;
  private final ConsumerClient consumer;
  private final SaleStates redis;
  private final BlockingCalls calls;

  SaleStopper(
      ProductCache products,
      ConsumerClient consumer,
      SaleStates redis,
      @Qualifier("operatorRedisCalls") BlockingCalls calls) {
    this.products = products;
    this.consumer = consumer;
    this.redis = redis;
    this.calls = calls;
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
   * Stops admission in Redis at once, then in MySQL; 409 ILLEGAL_TRANSITION with the state that
   * prevents it, 503 when neither store is known to have the stop.
   */
  Mono<Stopped> stop(Stop stop, long skuId, String operator) {
    if (products.decides(skuId) == Decider.MYSQL) {
      return stopMySqlFirst(stop, skuId, operator, strongNotTaken());
    }
    return calls
        .<Optional<Boolean>>call(() -> Optional.of(stopRedis(stop, skuId, operator)))
        .onErrorReturn(SaleStopper::isUnavailable, Optional.empty())
        .flatMap(
            noted ->
                noted.isPresent()
                    ? stopMySql(stop, skuId, operator, noted.get())
                    : stopMySqlFirst(stop, skuId, operator, notTaken()));
  }

  /** Redis follows, if it decides the sale: a fallback may have begun or ended in between. */
  private Mono<Stopped> stopMySqlFirst(
      Stop stop, long skuId, String operator, ProblemException notTaken) {
    return consumer
        .changeState(skuId, stop.target, operator)
        .onErrorMap(SaleStopper::isUnavailable, e -> notTaken)
        .flatMap(
            moved ->
                moved.redisDecides()
                    ? followInRedis(stop, moved)
                    : Mono.just(new Stopped.Everywhere(moved)));
  }

  private boolean stopRedis(Stop stop, long skuId, String operator) {
    return redis.stop(
        new PendingStop(skuId, stop.target.name(), System.currentTimeMillis(), operator));
  }

  private Mono<Stopped> stopMySql(Stop stop, long skuId, String operator, boolean noted) {
    Mono<Stopped> moved =
        consumer.changeState(skuId, stop.target, operator).map(Stopped.Everywhere::new);
    return noted
        ? moved.onErrorResume(
            SaleStopper::isUnavailable, e -> partly(skuId, stop, StopAccepted.Store.MYSQL))
        : moved;
  }

  private Mono<Stopped> followInRedis(Stop stop, ProductRow moved) {
    return calls
        .call(() -> follow(moved))
        .<Stopped>map(followed -> new Stopped.Everywhere(moved))
        .onErrorResume(
            SaleStopper::isUnavailable, e -> partly(moved.skuId(), stop, StopAccepted.Store.REDIS));
  }

  private Followed follow(ProductRow product) {
    return redis.follow(
        product.skuId(), product.state().name(), product.epoch(), product.stateVersion(), null);
  }

  private static Mono<Stopped> partly(long skuId, Stop stop, StopAccepted.Store awaiting) {
    return Mono.just(new Stopped.Partly(new StopAccepted(skuId, stop.target, awaiting)));
  }

  /** Whether the outcome is unknown because a store or a service does not answer. */
  private static boolean isUnavailable(Throwable failure) {
    return failure instanceof ProblemException problem && problem.problem().status() == 503;
  }

  private static ProblemException strongNotTaken() {
    return ProblemException.of(
        ProblemCode.DATABASE_UNAVAILABLE,
        "MySQL alone decides this sale, and order-consumer did not answer: repeat the stop. The sale"
            + " may go on.");
  }

  private static ProblemException notTaken() {
    return ProblemException.of(
        ProblemCode.STORES_UNAVAILABLE,
        "Neither Redis nor MySQL is known to have taken it; repeat it. The sale may go on.");
  }
}
