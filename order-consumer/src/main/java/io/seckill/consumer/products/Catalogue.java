package io.seckill.consumer.products;

import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemException;
import java.util.Optional;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.exceptions.JedisException;

/** Creates, edits and finds products. */
@Component
class Catalogue {

  private final Products products;
  private final TransactionOperations transactions;
  private final SaleExtension extension;

  Catalogue(Products products, TransactionOperations transactions, SaleExtension extension) {
    this.products = products;
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
      Optional<Product> created = create(skuId, rules);
      if (created.isPresent()) {
        return new Upserted(created.get().row(), true);
      }
    }
    Product edited =
        transactions.execute(tx -> products.lock(skuId).orElseThrow(Product::unknown).edit(rules));
    if (edited.epoch() > 0 && edited.phase().redisDecides()) {
      extension.extend(edited);
    }
    return new Upserted(edited.row(), false);
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
