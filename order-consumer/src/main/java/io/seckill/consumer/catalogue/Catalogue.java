package io.seckill.consumer.catalogue;

import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import jakarta.persistence.EntityManager;
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
  private final EntityManager entities;
  private final TransactionOperations transactions;
  private final PendingStops stops;
  private final SaleStates states;
  private final SaleExtension extension;

  Catalogue(
      Products products,
      EntityManager entities,
      TransactionOperations transactions,
      PendingStops stops,
      SaleStates states,
      SaleExtension extension) {
    this.products = products;
    this.entities = entities;
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
      Optional<ProductRow> created = create(skuId, rules);
      if (created.isPresent()) {
        return new Upserted(created.get(), true);
      }
    }
    Product edited = required(transactions.execute(tx -> edit(skuId, rules)));
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
   * @param known number of the last state change that Redis has; the new number is above it, in
   *     case MySQL was restored from a backup
   */
  private ProductRow move(long skuId, SaleState target, long known) {
    return required(
        transactions.execute(
            tx -> {
              Product product = products.lock(skuId).orElseThrow(Catalogue::unknown);
              if (target != SaleState.CLOSED) {
                product.refuseArchived();
              }
              long version = Math.max(product.stateVersion(), known) + 1;
              products.move(skuId, target, version, SaleState.before(target));
              ProductRow row = find(skuId);
              if (row.state() != target) {
                throw ProblemException.ofSale(
                    ProblemCode.ILLEGAL_TRANSITION,
                    "A sale that is " + row.state() + " cannot become " + target + ".",
                    row.state().name());
              }
              return row;
            }));
  }

  static ProblemException unknown() {
    return ProblemException.of(ProblemCode.UNKNOWN_SKU);
  }

  /** Empty when another request has created it meanwhile; that makes JPA's transaction unusable. */
  private Optional<ProductRow> create(long skuId, ProductRules rules) {
    try {
      transactions.executeWithoutResult(tx -> entities.persist(new Product(skuId, rules)));
      return products.findBySkuId(skuId).map(Product::row);
    } catch (DataIntegrityViolationException e) {
      return Optional.empty();
    }
  }

  private Product edit(long skuId, ProductRules rules) {
    Product product = products.lock(skuId).orElseThrow(Catalogue::unknown).refuseArchived();
    if (product.state() == SaleState.NEW) {
      rewrite(skuId, rules);
    } else {
      refuseImmutable(product.rules(), rules);
      products.rename(skuId, rules.name(), rules.closesAt());
    }
    return products.findBySkuId(skuId).orElseThrow(Catalogue::unknown);
  }

  private void rewrite(long skuId, ProductRules rules) {
    products.rewrite(
        skuId,
        rules.name(),
        rules.priceCents(),
        rules.stock(),
        rules.policy(),
        rules.limitPerUser(),
        rules.decides(),
        rules.opensAt(),
        rules.closesAt());
  }

  private static void refuseImmutable(ProductRules now, ProductRules wanted) {
    refuse(now.priceCents() != wanted.priceCents(), "priceCents", "cannot change");
    refuse(now.stock() != wanted.stock(), "stock", "changes only through /stock");
    refuse(now.policy() != wanted.policy(), "policy", "cannot change");
    refuse(now.limitPerUser() != wanted.limitPerUser(), "limitPerUser", "cannot change");
    refuse(now.decides() != wanted.decides(), "decides", "cannot change");
    refuse(!now.opensAt().equals(wanted.opensAt()), "opensAt", "cannot change");
    refuse(wanted.closesAt().isBefore(now.closesAt()), "closesAt", "can only move to later");
  }

  private static void refuse(boolean changed, String field, String rule) {
    if (changed) {
      throw ProblemException.ofField(
          ProblemCode.IMMUTABLE_AFTER_PREHEAT,
          field + " " + rule + " after the first preheat.",
          field);
    }
  }

  /** No transaction callback in this class returns null. */
  private static <T> T required(@Nullable T value) {
    if (value == null) {
      throw new IllegalStateException("a transaction without an answer");
    }
    return value;
  }
}
