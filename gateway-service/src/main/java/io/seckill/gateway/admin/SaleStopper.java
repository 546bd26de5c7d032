package io.seckill.gateway.admin;

import io.seckill.common.sale.Decider;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.SaleStates.Followed;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Optional;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Pauses and closes sales, even when everything but Redis is unavailable. A stop is written to
 * Redis first, and is recorded there until order-consumer has written it to MySQL. Repeating the
 * same call completes it. Of a SKU with shards every shard is stopped. A sale that MySQL decides is
 * stopped there, through order-consumer alone.
 */
@Component
record SaleStopper(
    ProductCache products,
    ConsumerClient consumer,
    SaleStates redis,
    @Qualifier("stopCalls") BlockingCalls calls) {

  sealed interface Stopped {

    /** Both stores have the stop. */
    record Everywhere(ProductRow product) implements Stopped {}

    /**
     * One of the two stores has the stop; the other follows as soon as it answers.
     *
     * @param state PAUSED or CLOSED
     * @param detail for operators
     */
    record Partly(long skuId, SaleState state, Missing awaiting, String detail)
        implements Stopped {}
  }

  /** The store that does not have the stop yet. */
  enum Missing {
    MYSQL(
        "Purchases are refused from now on. MySQL follows when order-consumer and MySQL answer;"
            + " the sale stays stopped until then."),
    REDIS(
        "MySQL has the stop. Redis does not answer; order-consumer and the gateways stop the sale"
            + " there when it does.");

    private final String detail;

    Missing(String detail) {
      this.detail = detail;
    }
  }

  /**
   * Stops admission in Redis at once, then in MySQL; 409 ILLEGAL_TRANSITION with the state that
   * prevents it, 503 when neither store is known to have the stop.
   *
   * @param target PAUSED or CLOSED
   */
  Mono<Stopped> stop(SaleState target, long skuId, String operator) {
    List<Long> inRedis =
        idsInRedis(skuId).stream().filter(id -> products.decides(id) != Decider.MYSQL).toList();
    if (inRedis.isEmpty()) {
      return stopMySqlFirst(target, skuId, operator, strongNotTaken());
    }
    return stopRedis(target, inRedis, operator)
        .flatMap(
            noted ->
                noted.isPresent()
                    ? stopMySql(target, skuId, operator, noted.get())
                    : stopMySqlFirst(target, skuId, operator, notTaken()));
  }

  /** Redis follows, if it decides the sale: a fallback may have begun or ended in between. */
  private Mono<Stopped> stopMySqlFirst(
      SaleState target, long skuId, String operator, ProblemException notTaken) {
    return consumer
        .changeState(skuId, target, operator)
        .onErrorMap(SaleStopper::isUnavailable, e -> notTaken)
        .flatMap(moved -> followInRedis(target, moved));
  }

  /**
   * Stops the sale, or all of these shards that can be reached, at once. Returns whether Redis has
   * recorded a stop; empty when it has not answered for one of them.
   */
  private Mono<Optional<Boolean>> stopRedis(SaleState target, List<Long> ids, String operator) {
    long now = System.currentTimeMillis();
    return Flux.fromIterable(ids)
        .map(id -> new PendingStop(id, target.name(), now, operator))
        .flatMap(
            one ->
                calls
                    .call(() -> Optional.of(redis.stop(one)))
                    .onErrorReturn(SaleStopper::isUnavailable, Optional.empty()))
        .reduce((one, other) -> one.flatMap(noted -> other.map(more -> noted || more)));
  }

  /** The ids that Redis has the sale under: its shards, or the SKU itself. */
  private List<Long> idsInRedis(long skuId) {
    int shards = products.shards(skuId);
    return shards == 1 ? List.of(skuId) : Shards.ids(skuId, shards);
  }

  private Mono<Stopped> stopMySql(SaleState target, long skuId, String operator, boolean noted) {
    Mono<Stopped> moved =
        consumer.changeState(skuId, target, operator).map(Stopped.Everywhere::new);
    return noted
        ? moved.onErrorResume(SaleStopper::isUnavailable, e -> stoppedInRedis(target, skuId))
        : moved;
  }

  /**
   * A SKU that is not in the last read of the products may have shards, or be a strong sale. It is
   * stopped only if Redis has the sale under the id of the SKU.
   */
  private Mono<Stopped> stoppedInRedis(SaleState target, long skuId) {
    Mono<Boolean> isInRedis =
        products.lastRead(skuId) != null
            ? Mono.just(true)
            : calls
                .call(() -> redis.version(skuId) > 0)
                .onErrorReturn(SaleStopper::isUnavailable, false);
    return isInRedis.flatMap(
        found -> found ? partly(skuId, target, Missing.MYSQL) : Mono.error(notTaken()));
  }

  private Mono<Stopped> followInRedis(SaleState target, ProductRow moved) {
    Flux<ProductRow> rows = moved.shards() == 1 ? Flux.just(moved) : shardsOf(moved);
    return rows.filter(ProductRow::redisDecides)
        .flatMap(
            row ->
                calls
                    .call(() -> follow(row))
                    .thenReturn(true)
                    .onErrorReturn(SaleStopper::isUnavailable, false))
        .reduce(true, Boolean::logicalAnd)
        .onErrorReturn(SaleStopper::isUnavailable, false)
        .flatMap(
            everywhere ->
                everywhere
                    ? Mono.just(new Stopped.Everywhere(moved))
                    : partly(moved.skuId(), target, Missing.REDIS));
  }

  /** The rows of the shards, as they are now: each has an epoch and a version of its own. */
  private Flux<ProductRow> shardsOf(ProductRow sku) {
    return products
        .readAgain()
        .thenMany(Flux.fromIterable(Shards.ids(sku.skuId(), sku.shards())))
        .mapNotNull(products::lastRead);
  }

  private Followed follow(ProductRow product) {
    return redis.follow(
        product.skuId(), product.state().name(), product.epoch(), product.stateVersion(), null);
  }

  private static Mono<Stopped> partly(long skuId, SaleState target, Missing awaiting) {
    return Mono.just(new Stopped.Partly(skuId, target, awaiting, awaiting.detail));
  }

  /** Whether the outcome is unknown because a store or a service does not answer. */
  private static boolean isUnavailable(Throwable failure) {
    return failure instanceof ProblemException problem && problem.problem().status() == 503;
  }

  private static ProblemException strongNotTaken() {
    return ProblemException.of(
        ProblemCode.DATABASE_UNAVAILABLE,
        "MySQL alone decides this sale, and order-consumer did not answer: repeat the stop. The"
            + " sale may go on.");
  }

  private static ProblemException notTaken() {
    return ProblemException.of(
        ProblemCode.STORES_UNAVAILABLE,
        "Neither Redis nor MySQL is known to have taken it; repeat it. The sale may go on.");
  }
}
