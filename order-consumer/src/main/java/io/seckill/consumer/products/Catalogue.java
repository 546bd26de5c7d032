package io.seckill.consumer.products;

import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/** Creates and edits products. */
@Component
record Catalogue(
    Products products,
    TransactionOperations transactions,
    SaleExtension extension,
    RedisCallGuard guard,
    UnifiedJedis redis) {

  record Upserted(ProductRow row, boolean created) {}

  /**
   * Creates the product, or edits it: every field before its first preheat; after that only its
   * name and its closing time, which may only move to later, in both stores.
   *
   * @param version of the product that was read to be edited; null for any, or to create it
   * @throws ProblemException 400 when a SKU with this id or decider has no shards; 404 UNKNOWN_SKU
   *     when there is none to be edited; 409 EDIT_CONFLICT, ARCHIVED, IMMUTABLE_AFTER_PREHEAT
   *     naming the member that may not change
   * @throws JedisException when Redis may lack the later closing time; a repeat completes it at
   *     once
   */
  Upserted upsert(long skuId, ProductRules rules, @Nullable Long version) {
    if (rules.shards() > 1 && skuId > Shards.LARGEST_SKU) {
      throw ProblemException.invalid("shards", "A SKU above 2^48-2 has no shards.");
    }
    if (version == null && products.findBySkuId(skuId).isEmpty()) {
      Optional<Product> created = create(skuId, rules);
      if (created.isPresent()) {
        return new Upserted(created.get().row(), true);
      }
    }
    List<Product> edited = transactions.execute(tx -> edit(skuId, rules, version));
    extendInRedis(edited);
    return new Upserted(Products.whole(edited.stream().map(Product::row).toList()), false);
  }

  /**
   * A shard that does not answer keeps no other from the later closing time; it gets it with the
   * next look of the reconciliation.
   */
  private void extendInRedis(List<Product> edited) {
    List<Product> missed =
        edited.stream()
            .filter(product -> product.epoch() > 0 && product.phase().redisDecides())
            .filter(product -> !extended(product))
            .toList();
    if (!missed.isEmpty()) {
      throw new JedisException(missed.size() + " shards do not answer");
    }
  }

  private boolean extended(Product product) {
    if (Shards.isShard(product.skuId())) {
      return guard.run(guard.partOf(product.skuId()), () -> extend(product));
    }
    extend(product);
    return true;
  }

  private void extend(Product product) {
    extension.extend(product.skuId(), product.closesAt(), product.expiry());
  }

  /** Returns the SKU's own row first, and then those of its shards. */
  private List<Product> edit(long skuId, ProductRules rules, @Nullable Long version) {
    List<Product> rows = products.lockWithShards(skuId);
    if (rows.isEmpty()) {
      throw Product.unknown();
    }
    ProductRules wanted = asConfigured(rules, rows);
    Product read = rows.get(0).refuseConflict(version, wanted);
    Product sku = read.edit(wanted, isPreheatLost(read, wanted));
    rows.stream().skip(1).forEach(shard -> shard.follow(sku));
    return rows;
  }

  /**
   * Whether Redis has a preheat of a product that is new in MySQL, which was restored from an older
   * backup: Redis may have the only copy of orders. While it is silent, the product can be edited,
   * also to be sold without it.
   */
  private boolean isPreheatLost(Product sku, ProductRules wanted) {
    ProductRules rules = sku.configured();
    if (sku.state() != SaleState.NEW
        || sku.phase() == SalePhase.STRONG
        || rules.equals(wanted)) { // a repeat changes nothing
      return false;
    }
    List<Long> sold =
        rules.shards() == 1 ? List.of(sku.skuId()) : Shards.ids(sku.skuId(), rules.shards());
    return sold.stream().anyMatch(id -> isNewerInRedis(id, sku.epoch()));
  }

  private boolean isNewerInRedis(long id, long epoch) {
    AtomicBoolean isNewer = new AtomicBoolean();
    guard.run(
        guard.partOf(id),
        () -> isNewer.set(RedisSaleState.readRules(redis, id).isNewerThan(epoch)));
    return isNewer.get();
  }

  /** A sale of Redis is shown as decided by MySQL in a fallback, and what is shown can be put. */
  private static ProductRules asConfigured(ProductRules rules, List<Product> rows) {
    boolean isInFallback = rows.stream().anyMatch(row -> row.phase().isInFallback());
    return isInFallback ? rules.with(Decider.REDIS) : rules;
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
