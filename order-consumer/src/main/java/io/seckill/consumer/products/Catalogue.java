package io.seckill.consumer.products;

import io.seckill.common.sale.SaleState;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import jakarta.persistence.EntityManager;
import java.util.Optional;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.exceptions.JedisException;

/** Creates, edits and finds products. */
@Component
class Catalogue {

  private final Products products;
  private final EntityManager entities;
  private final TransactionOperations transactions;
  private final SaleExtension extension;

  Catalogue(
      Products products,
      EntityManager entities,
      TransactionOperations transactions,
      SaleExtension extension) {
    this.products = products;
    this.entities = entities;
    this.transactions = transactions;
    this.extension = extension;
  }

  /** A product after an upsert, and whether that created it. */
  record Upserted(ProductRow row, boolean created) {}

  /**
   * @throws ProblemException 404 UNKNOWN_SKU
   */
  ProductRow find(long skuId) {
    return products.findBySkuId(skuId).orElseThrow(Product::unknown).row();
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
    Product edited = transactions.execute(tx -> edit(skuId, rules));
    if (edited.epoch() > 0 && edited.phase().redisDecides()) {
      extension.extend(edited);
    }
    return new Upserted(edited.row(), false);
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
    Product product = products.lock(skuId).orElseThrow(Product::unknown).refuseArchived();
    if (product.state() == SaleState.NEW) {
      rewrite(skuId, rules);
    } else {
      refuseImmutable(product.rules(), rules);
      products.rename(skuId, rules.name(), rules.closesAt());
    }
    return products.findBySkuId(skuId).orElseThrow(Product::unknown);
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
}
