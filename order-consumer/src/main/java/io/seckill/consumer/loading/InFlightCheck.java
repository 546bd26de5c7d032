package io.seckill.consumer.loading;

import io.seckill.common.order.Partition;
import io.seckill.common.sale.SaleState;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.products.Product;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.products.ReplicationId;
import io.seckill.consumer.storage.Barriers;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * Counts the orders and units in flight between Redis and MySQL for one SKU. Its answers hold while
 * the product row is locked and the sale is not running, so that nothing new is admitted or settled
 * meanwhile.
 */
@Component
record InFlightCheck(
    JdbcClient jdbc,
    UnifiedJedis redis,
    RedisListScan lists,
    Barriers barriers,
    LostOrderConsent consent) {

  /** Together with the caller's other work, shorter than the gateway's time-out for a preheat. */
  private static final Duration BARRIER_TIMEOUT = Duration.ofSeconds(3);

  private static final String IF_LOST =
      " If MySQL has lost them, reconcile the closed sale with look (a dry run), which lists them;"
          + " then a preheat gives them up.";

  /**
   * The orders and units that prevent a new epoch, and the orders that do not.
   *
   * @param orders admitted and not settled, at least 0
   * @param compensations orders that ended and whose units are not yet returned to Redis
   * @param lost orders that are given up: admitted, not settled, and proven not to be in flight
   */
  record Count(long orders, long compensations, long deadLetters, long lost) {

    /** Throws ProblemException 409 ORDERS_IN_FLIGHT, unless there are none. */
    Count refuse() {
      if (orders == 0 && compensations == 0 && deadLetters == 0) {
        return this;
      }
      throw SaleLoading.inFlight(
          ("Still on their way: %d orders not settled, %d compensations pending,"
                  + " %d dead letters open.%s")
              .formatted(orders, compensations, deadLetters, orders == 0 ? "" : IF_LOST));
    }
  }

  /**
   * The epoch of a closed sale that has no order in flight.
   *
   * @param epoch -1 when nothing is proven, because Redis shows the orders in flight
   * @param givesUp whether orders that are not settled are lost, and operators have consented
   * @param records how many of these orders Redis has
   */
  record InFlightProof(long epoch, boolean givesUp, long records) {

    private static final InFlightProof NONE = new InFlightProof(-1, false, 0);

    boolean covers(Product product) {
      return epoch == product.epoch();
    }
  }

  /**
   * Counts orders and compensations only when Redis holds exactly this epoch. An older epoch was
   * proven to have nothing in flight when it was superseded, and a preheat that reached MySQL but
   * not Redis must be repeatable. When Redis does not have the sale, there is nothing to which
   * compensations could be applied either. A wrong number in Redis counts no orders.
   *
   * @param seen the sale in Redis, read after the product
   */
  Count of(Product product, RedisSaleState seen, InFlightProof proof) {
    long skuId = product.skuId();
    long orders = unsettled(product, seen);
    boolean areLost = proof.givesUp() && proof.covers(product);
    return new Count(
        areLost ? 0 : orders,
        seen.epoch() == product.epoch() ? pendingCompensations(skuId) : 0,
        openDeadLetters(skuId),
        areLost ? Math.max(orders, proof.records()) : 0);
  }

  private static long unsettled(Product product, RedisSaleState seen) {
    boolean counted = seen.epoch() == product.epoch() && !seen.isTooFarAhead(seq(product));
    return counted ? Math.max(0, seen.seq() - product.settled()) : 0;
  }

  /**
   * Proves that no order of the sale is in flight, when Redis does not show that, or shows orders
   * that MySQL may have lost. Waits for orders to be settled, so the product row must not be
   * locked. The proof of an epoch stays true: nothing is admitted until the sale is preheated.
   *
   * @throws ProblemException 409 ORDERS_IN_FLIGHT when that is not proven, or when orders are lost
   *     and must not be given up
   */
  InFlightProof prove(Product product) {
    RedisSaleState seen = RedisSaleState.readRules(redis, product.skuId());
    boolean isUnknown = isUnknownOf(product, seen);
    boolean mayBeLost = mayBeLost(product, seen);
    if (!isUnknown && !mayBeLost) {
      return InFlightProof.NONE;
    }
    if (!isProvenNone(product.skuId())) {
      if (isUnknown) {
        throw notProven();
      }
      return InFlightProof.NONE; // the count refuses them
    }
    long records = mayBeLost ? reviewed(product.skuId()) : 0;
    return new InFlightProof(product.epoch(), mayBeLost, records);
  }

  static ProblemException notProven() {
    return SaleLoading.inFlight(
        "Redis has lost the sale, or part of it, and orders of it may still be on their way;"
            + " preheat again when they are stored.");
  }

  /** Whether MySQL may have lost orders: it has lost their epoch, or an operator has looked. */
  private boolean mayBeLost(Product product, RedisSaleState seen) {
    return seen.isNewerThan(product.epoch())
        || (product.state() == SaleState.CLOSED
            && unsettled(product, seen) > 0
            && consent.hasDryRun(product.skuId(), product.epoch()));
  }

  /** Returns how many orders Redis has and MySQL has lost, unless they must not be given up. */
  private long reviewed(long skuId) {
    LostOrderConsent.Review review =
        consent.review(ProductRows.find(jdbc, skuId).orElseThrow(Product::unknown));
    if (review.objection().isPresent()) {
      throw SaleLoading.inFlight(review.objection().get());
    }
    return review.orders();
  }

  /**
   * Whether Redis does not show the orders in flight: shoppers could buy since the last preheat,
   * and Redis holds another epoch than MySQL, or a lower number of orders or changes, or a wrong
   * one, or may lack orders that the broker still has. Of a sale that is not closed, whether MySQL
   * has lost the last preheat.
   *
   * @param seen as in {@link #of}; the server is compared afterwards
   */
  boolean isUnknownOf(Product product, RedisSaleState seen) {
    if (product.state() != SaleState.CLOSED) {
      return seen.isNewerThan(product.epoch());
    }
    long seq = seq(product);
    return seen.isBehind(product.epoch(), seq, product.changeSeq())
        || seen.isTooFarAhead(seq)
        || !isProvenServerOf(product.skuId());
  }

  /** The sequence number to continue from when all orders are settled. */
  static long seq(Product product) {
    return Math.max(product.settled(), product.lastSeq());
  }

  private boolean isProvenServerOf(long skuId) {
    String proven = ExpectedSale.find(jdbc, List.of(skuId)).get(0).server();
    return proven.isEmpty() || proven.equals(ReplicationId.of(redis, Partition.ofSku(skuId)));
  }

  /**
   * Proves, without the counters of Redis, that no order of a closed sale is in flight: first no
   * list in Redis has one, and then a barrier passes behind every message that the broker has.
   * Waits for orders to be settled, so the product row must not be locked. Returns false when
   * orders are in flight, or the proof did not succeed in time.
   */
  boolean isProvenNone(long skuId) {
    return lists.hasNone(skuId) && barriers.pass(Partition.ofSku(skuId), BARRIER_TIMEOUT);
  }

  private long pendingCompensations(long skuId) {
    return count(
        "SELECT COUNT(*) FROM compensation WHERE done_at IS NULL AND sku_id = :sku", skuId);
  }

  private long openDeadLetters(long skuId) {
    return count("SELECT COUNT(*) FROM dead_letter WHERE state = 'OPEN' AND sku_id = :sku", skuId);
  }

  private long count(String sql, long skuId) {
    return jdbc.sql(sql).params(Map.of("sku", skuId)).query(Long.class).single();
  }
}
