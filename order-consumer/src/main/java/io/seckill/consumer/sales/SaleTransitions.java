package io.seckill.consumer.sales;

import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.consumer.products.Product;
import io.seckill.consumer.products.Products;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.exceptions.JedisException;

/** Changes of a sale's state in MySQL: opened, paused, closed. */
@Component
public class SaleTransitions {

  private static final Logger log = LoggerFactory.getLogger(SaleTransitions.class);

  private final Products products;
  private final TransactionOperations transactions;
  private final PendingStops stops;
  private final SaleStates states;

  SaleTransitions(
      Products products,
      TransactionOperations transactions,
      PendingStops stops,
      SaleStates states) {
    this.products = products;
    this.transactions = transactions;
    this.stops = stops;
    this.states = states;
  }

  /**
   * Opens the sale in MySQL; {@link SaleOpening} opens it in Redis, unless it is a strong one.
   * First applies a stop that is pending in Redis, because that stop was requested before this
   * opening.
   *
   * @throws ProblemException 404 UNKNOWN_SKU, 409 ILLEGAL_TRANSITION
   * @throws JedisException when Redis cannot report pending stops
   */
  ProductRow open(long skuId) {
    if (!redisDecides(skuId)) {
      return move(skuId, SaleState.OPEN, 0);
    }
    stops.carry(skuId);
    return move(skuId, SaleState.OPEN, states.version(skuId));
  }

  /**
   * Stops the sale, whether or not Redis is available. Succeeds when the sale is in that state
   * already.
   *
   * @param target PAUSED or CLOSED
   * @throws ProblemException 404 UNKNOWN_SKU, 409 ILLEGAL_TRANSITION
   */
  public ProductRow stop(long skuId, SaleState target) {
    Noted noted = redisDecides(skuId) ? noted(skuId, target) : new Noted(null, true);
    ProductRow row = move(skuId, target, 0);
    if (noted.redisAnswers() && row.redisDecides()) { // a fallback may have ended
      stops.follow(row, noted.stop());
    }
    return row;
  }

  /**
   * @param stop pending in Redis that this one includes, usually the gateway's half of it
   */
  private record Noted(@Nullable PendingStop stop, boolean redisAnswers) {}

  private boolean redisDecides(long skuId) {
    return products.findBySkuId(skuId).orElseThrow(Product::unknown).phase().redisDecides();
  }

  private Noted noted(long skuId, SaleState target) {
    try {
      return new Noted(stops.includedIn(skuId, target), true);
    } catch (JedisException e) {
      log.warn("sku {}: stopping in MySQL; Redis is updated later: {}", skuId, e.toString());
      return new Noted(null, false);
    }
  }

  /**
   * @param known number of the last state change that Redis has; the new number is above it, in
   *     case MySQL was restored from a backup
   */
  private ProductRow move(long skuId, SaleState target, long known) {
    return Objects.requireNonNull(
        transactions.execute(
            tx -> {
              Product product = products.lock(skuId).orElseThrow(Product::unknown);
              if (target != SaleState.CLOSED) {
                product.refuseArchived();
              }
              long version = Math.max(product.stateVersion(), known) + 1;
              products.move(skuId, target, version, SaleState.before(target));
              ProductRow row = products.findBySkuId(skuId).orElseThrow(Product::unknown).row();
              if (row.state() != target) {
                throw ProblemException.ofSale(
                    ProblemCode.ILLEGAL_TRANSITION,
                    "A sale that is " + row.state() + " cannot become " + target + ".",
                    row.state().name());
              }
              return row;
            }));
  }
}
