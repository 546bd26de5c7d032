package io.seckill.consumer.sales;

import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.consumer.loading.RedisSafety;
import io.seckill.consumer.products.Catalogue;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * Opens and resumes sales: in MySQL first, then in Redis, which starts to admit. Needs both stores,
 * except for a strong sale. Repeating the same call completes it.
 */
@Component
class SaleOpening {

  private final Catalogue catalogue;
  private final SaleTransitions transitions;
  private final UnifiedJedis redis;
  private final RedisSafety safety;
  private final SaleStates states;

  SaleOpening(
      Catalogue catalogue,
      SaleTransitions transitions,
      UnifiedJedis redis,
      RedisSafety safety,
      SaleStates states) {
    this.catalogue = catalogue;
    this.transitions = transitions;
    this.redis = redis;
    this.safety = safety;
    this.states = states;
  }

  /**
   * Opens the sale in both stores, a strong one in MySQL alone. One that is open already counts as
   * success.
   *
   * @param from the state the sale must be in: PREHEATED to open it, PAUSED to resume it
   * @throws ProblemException 404 UNKNOWN_SKU; 409 ARCHIVED, ILLEGAL_TRANSITION with the state that
   *     prevents it, NOT_PREHEATED when Redis does not hold the sale, REDIS_BEHIND when it has lost
   *     orders, UNSAFE_REDIS when it may lose them and the sale is not only resumed
   */
  ProductRow open(long skuId, SaleState from) {
    ProductRow product = catalogue.findToSell(skuId);
    if (product.state() != from && product.state() != SaleState.OPEN) {
      throw illegal(product.state());
    }
    if (product.redisDecides()) {
      refuseUnfit(product, from);
    }
    ProductRow opened = transitions.open(skuId);
    return opened.redisDecides() ? inRedis(opened) : opened;
  }

  private void refuseUnfit(ProductRow product, SaleState from) {
    if (from == SaleState.PREHEATED) { // a resumed sale already has its orders in Redis
      safety.refuseUnsafe();
    }
    refuseOtherData(product);
  }

  private ProductRow inRedis(ProductRow opened) {
    return switch (states.follow(
        opened.skuId(), opened.state().name(), opened.epoch(), opened.stateVersion(), null)) {
      case DONE -> opened;
      case NOT_LOADED -> throw notPreheated();
      case STOPPED -> throw illegal(SaleState.PAUSED);
      case NEWER -> openedSince(opened);
    };
  }

  /**
   * @param product read from MySQL before this call
   */
  private void refuseOtherData(ProductRow product) {
    List<@Nullable String> sale =
        redis.hmget(RedisKeys.sku(product.skuId()), "state", "epoch", "seq");
    if ("PREHEATING".equals(sale.get(0)) || !Long.toString(product.epoch()).equals(sale.get(1))) {
      throw notPreheated();
    }
    String seq = sale.get(2);
    if ((seq == null ? 0 : Long.parseLong(seq)) < product.lastSeq()) {
      throw ProblemException.of(
          ProblemCode.REDIS_BEHIND, "Redis has lost orders of this sale; reconcile it first.");
    }
  }

  /** Redis has the state of a later change: that must be an opening, too. */
  private ProductRow openedSince(ProductRow opened) {
    ProductRow now = catalogue.find(opened.skuId());
    if (now.state() == SaleState.OPEN && now.stateVersion() > opened.stateVersion()) {
      return now;
    }
    throw illegal(now.state());
  }

  private static ProblemException notPreheated() {
    return ProblemException.of(
        ProblemCode.NOT_PREHEATED, "Redis does not hold this sale; preheat it first.");
  }

  private static ProblemException illegal(SaleState state) {
    return ProblemException.ofSale(
        ProblemCode.ILLEGAL_TRANSITION,
        "The sale is " + state + "; this call does not open it.",
        state.name());
  }
}
