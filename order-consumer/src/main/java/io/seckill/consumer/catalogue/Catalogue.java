package io.seckill.consumer.catalogue;

import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.exceptions.JedisException;

/** Products and the state of their sales, in MySQL. */
@Component
public class Catalogue {

  private static final Logger log = LoggerFactory.getLogger(Catalogue.class);

  private final Products products;
  private final TransactionOperations transactions;
  private final PendingStops stops;
  private final SaleStates states;
  private final SaleExtension extension;

  Catalogue(
      Products products,
      TransactionOperations transactions,
      PendingStops stops,
      SaleStates states,
      SaleExtension extension) {
    this.products = products;
    this.transactions = transactions;
    this.stops = stops;
    this.states = states;
    this.extension = extension;
  }

  /** A product after an upsert, and whether that created it. */
  record Upserted(ProductRow row, boolean created) {}

  /**
   * @throws ProblemException 404 UNKNOWN_SKU
   */
  ProductRow find(long skuId) {
    return products.findBySkuId(skuId).orElseThrow(Catalogue::unknown).row();
  }

  /**
   * @throws ProblemException 404 UNKNOWN_SKU, 409 ARCHIVED
   */
  ProductRow findToSell(long skuId) {
    return products.findBySkuId(skuId).orElseThrow(Catalogue::unknown).refuseArchived().row();
  }

  /**
   * Creates the product, or edits it: every field before its first preheat; after that only its
   * name and its closing time, which may only move to later, in both stores.
   *
   * @throws ProblemException 409 ARCHIVED, IMMUTABLE_AFTER_PREHEAT naming the member that may not
   *     change
   * @throws JedisException when Redis may lack the later closing time; a repeat completes it
   */
  Upserted upsert(long skuId, ProductRules rules) {
    if (products.findBySkuId(skuId).isEmpty()) {
      Optional<Product> created = create(skuId, rules);
      if (created.isPresent()) {
        return new Upserted(created.get().row(), true);
      }
    }
    Product edited = transactions.execute(tx -> lock(skuId).edit(rules));
    if (edited.epoch() > 0 && edited.phase().redisDecides()) {
      extension.extend(edited);
    }
    return new Upserted(edited.row(), false);
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
    return products.findBySkuId(skuId).orElseThrow(Catalogue::unknown).phase().redisDecides();
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
   * @param known number of the last state change that Redis has
   */
  private ProductRow move(long skuId, SaleState target, long known) {
    return transactions.execute(
        tx -> {
          Product product = lock(skuId);
          if (target != SaleState.CLOSED) {
            product.refuseArchived();
          }
          SaleState state = product.move(target, known).state();
          if (state != target) {
            throw ProblemException.ofSale(
                ProblemCode.ILLEGAL_TRANSITION,
                "A sale that is " + state + " cannot become " + target + ".",
                state.name());
          }
          return product.row();
        });
  }

  private Product lock(long skuId) {
    return products.lock(skuId).orElseThrow(Catalogue::unknown);
  }

  static ProblemException unknown() {
    return ProblemException.of(ProblemCode.UNKNOWN_SKU);
  }

  /** Empty when another request has created it meanwhile. */
  private Optional<Product> create(long skuId, ProductRules rules) {
    try {
      return Optional.of(transactions.execute(tx -> products.save(new Product(skuId, rules))));
    } catch (DataIntegrityViolationException e) {
      return Optional.empty();
    }
  }
}
