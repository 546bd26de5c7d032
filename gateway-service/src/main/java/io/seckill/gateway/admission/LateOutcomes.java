package io.seckill.gateway.admission;

import io.seckill.common.order.OrderStatus;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.admission.Admission.Aliased;
import io.seckill.gateway.admission.Admission.Queued;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.orders.OrderStatuses;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.PathIds;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Completes the outcomes that Redis alone cannot give, with MySQL. An unknown SKU may be a strong
 * sale, or have shards, since the last read of the products, or have ended so long ago that they
 * are read without it: "there is no such SKU" is answered after a read that began later, and MySQL
 * decides its sales. Of an alias only MySQL has the order's status. Never blocks.
 */
@Component
record LateOutcomes(
    ProductCache products,
    OrderStatuses statuses,
    ShardedPurchases shards,
    @Qualifier("strongQueue") RequestBatcher<Purchase> strong,
    AdmissionProperties settings) {

  /**
   * Shards of a sale that ended later may have the purchase: a gateway that could not read the
   * products for the time of the sale has not asked them.
   */
  private static final Duration LONG_AGO = Duration.ofDays(1);

  /**
   * @param decidedBy the SKU, or the shard of it that decided
   * @param outcome of a purchase that MySQL alone does not decide
   * @param decided completed with the outcome, at once unless MySQL is needed
   */
  void complete(
      PurchaseAttempt attempt,
      long decidedBy,
      Admission outcome,
      CompletableFuture<Admission> decided) {
    if (outcome instanceof Aliased alias) {
      var unused =
          statuses
              .statusOf(alias.orderId(), attempt.userId())
              .thenAccept(status -> decided.complete(repeated(alias, status)));
    } else if (outcome == Refusal.UNKNOWN_SKU && mayBeNew(attempt.skuId())) {
      var unused =
          asReadAgain(attempt.skuId())
              .timeout(patience())
              .flatMap(found -> decidedAgain(found, decidedBy, attempt, outcome))
              .defaultIfEmpty(outcome)
              .onErrorReturn(Unknown.PRODUCTS)
              .subscribe(decided::complete);
    } else {
      if (outcome instanceof Queued order) {
        statuses.queued(order.orderId(), attempt.userId(), decidedBy);
      }
      decided.complete(outcome);
    }
  }

  /**
   * Redis was asked before the products were read: since then they may show a strong sale, or
   * shards.
   */
  private boolean mayBeNew(long skuId) {
    @Nullable ProductRow read = products.lastRead(skuId);
    return skuId != PathIds.NEVER_ON_SALE && (read == null || !read.redisDecides());
  }

  /** The shards of a SKU that is known may be on sale since the last read. */
  private Mono<ProductRow> asReadAgain(long skuId) {
    @Nullable ProductRow read = products.lastRead(skuId);
    return read != null && read.shards() > 1 ? products.findAgain(skuId) : products.find(skuId);
  }

  private Mono<Admission> decidedAgain(
      ProductRow found, long decidedBy, PurchaseAttempt attempt, Admission outcome) {
    if (found.decides() != Decider.MYSQL) {
      boolean isOfRedis = isOfRedis(found) || Shards.isShard(decidedBy);
      return Mono.just(isOfRedis ? outcome : Unknown.PRODUCTS);
    }
    PurchaseAttempt decidedAs =
        attempt.at(Shards.purchased(found.skuId(), attempt.userId(), found.shards()));
    CompletableFuture<Admission> decided = new CompletableFuture<>();
    Purchase purchase =
        new Purchase(decidedAs, shards.whileUnitsAreLeft(decidedAs, decided::complete));
    purchase.waitsFor(Unknown.CONSUMER);
    strong.submit(purchase);
    return Mono.fromFuture(decided);
  }

  /**
   * Whether Redis has the sale under the id of the SKU, or nobody has it yet, or its shards may
   * have dropped it.
   */
  private static boolean isOfRedis(ProductRow read) {
    return read.redisDecides()
        || (read.shards() > 1 && (read.state() == SaleState.NEW || endedLongAgo(read)));
  }

  private static boolean endedLongAgo(ProductRow read) {
    return read.closesAt().plus(LONG_AGO).isBefore(Instant.now());
  }

  /** Less than this would make the outcome of an unknown SKU unknown at times. */
  private Duration patience() {
    Duration within = settings.answerWithin();
    return within.compareTo(ProductCache.NEXT_READ_WITHIN) < 0
        ? ProductCache.NEXT_READ_WITHIN
        : within;
  }

  private static Admission repeated(Aliased alias, @Nullable OrderStatus status) {
    return status == null ? Unknown.MYSQL : new Repeated(alias.orderId(), status, 0);
  }
}
