package io.seckill.gateway.admin;

import io.seckill.common.sale.LoadingOvertakenException;
import io.seckill.common.sale.SaleLoader;
import io.seckill.common.sale.SaleLoading;
import io.seckill.common.sale.SaleState;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.support.web.ProductRow;
import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Mono;

/**
 * Loads a SKU's stock, rules and earlier orders from MySQL into Redis under a new epoch. MySQL
 * raises the epoch first; then everything is read in one snapshot and written by steps that each
 * check the epoch, so that a crash at any point, or two operators at once, leave either the old
 * sale closed, or an unfinished load that admits nothing, or the finished one. To recover, repeat
 * the preheat.
 */
@Component
class Preheat {

  private final ConsumerClient consumer;
  private final RedisSaleWriter redis;
  private final StoredSale mysql;
  private final PreheatProperties settings;
  private final BlockingCalls calls;
  private final TransactionTemplate snapshot;

  Preheat(
      ConsumerClient consumer,
      RedisSaleWriter redis,
      StoredSale mysql,
      PreheatProperties settings,
      @Qualifier("preheatCalls") BlockingCalls calls,
      PlatformTransactionManager transactions) {
    this.consumer = consumer;
    this.redis = redis;
    this.mysql = mysql;
    this.settings = settings;
    this.calls = calls;
    this.snapshot = new TransactionTemplate(transactions);
    this.snapshot.setReadOnly(true);
    this.snapshot.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
  }

  /**
   * Returns the product with its new epoch, once Redis holds it; fails with 409 while the sale runs
   * or has orders in flight, or while Redis may lose orders, and with 503 when a store is
   * unavailable: the caller then repeats it.
   */
  Mono<ProductRow> run(long skuId, String operator) {
    return consumer
        .product(skuId)
        .flatMap(product -> calls.run(() -> refuse(product)))
        .then(Mono.defer(() -> consumer.preheat(skuId, settings.loading(), operator)))
        .flatMap(product -> calls.call(() -> load(product)));
  }

  private void refuse(ProductRow product) {
    redis.refuseUnsafe();
    redis.refuseWhileMoving(product);
  }

  /** Blocks; visible for tests of what may happen before the load. */
  ProductRow load(ProductRow raised) {
    try {
      return Objects.requireNonNull(snapshot.execute(status -> loadSnapshot(raised)));
    } catch (LoadingOvertakenException e) {
      throw RedisSaleWriter.overtaken();
    }
  }

  private ProductRow loadSnapshot(ProductRow raised) {
    ProductRow product = mysql.now(raised);
    if (product.epoch() != raised.epoch()) {
      throw RedisSaleWriter.overtaken();
    }
    SaleLoading loading = redis.begin(product, mysql.count(product.skuId()));
    Map<String, String> contained = loadEarlierOrders(product, loading.loader());
    loading.finish(contained, SaleState.PREHEATED.name());
    return product;
  }

  private Map<String, String> loadEarlierOrders(ProductRow product, SaleLoader loader) {
    long sku = product.skuId();
    if (product.policy().keepsQuota()) {
      mysql.loadQuotas(sku, loader);
    }
    mysql.loadOrders(sku, loader);
    mysql.loadAliases(sku, loader);
    mysql.loadCompensated(sku, product.epoch(), loader);
    loader.flush();
    return mysql.containedChanges(sku, product.epoch());
  }
}
