package io.seckill.consumer.catalogue;

import io.seckill.common.sale.SaleState;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import java.util.OptionalLong;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * The MySQL part of a preheat: raises the epoch and returns the row from which the gateway loads
 * Redis. When the gateway fails after that, the preheat is requested again: it raises the epoch
 * once more, so whatever the first one may have written to Redis belongs to an older epoch.
 */
@Component
class Preheat {

  private final Products products;
  private final OrdersInFlight inFlight;
  private final TransactionOperations transactions;

  Preheat(Products products, OrdersInFlight inFlight, TransactionOperations transactions) {
    this.products = products;
    this.inFlight = inFlight;
    this.transactions = transactions;
  }

  /**
   * What the gateway loads in addition to the rules.
   *
   * @param maxPerOrder most units of one order; empty to keep the present value
   * @param retentionSeconds how long Redis keeps the sale after its closing; empty to keep the
   *     present value
   */
  record Loading(OptionalLong maxPerOrder, OptionalLong retentionSeconds) {}

  /**
   * @return the row with its new epoch, as committed
   * @throws ProblemException 404 UNKNOWN_SKU, 409 SALE_RUNNING, 409 ORDERS_IN_FLIGHT
   */
  ProductRow of(long skuId, Loading loading) {
    OptionalLong proven = proveIfUnknown(skuId);
    ProductRow row = transactions.execute(tx -> inTransaction(skuId, loading, proven));
    if (row == null) {
      throw new IllegalStateException("a transaction without an answer");
    }
    return row;
  }

  /**
   * Runs before the row is locked, since orders that are stored meanwhile need that lock.
   *
   * @return the epoch that is proven to have no order in flight; empty when Redis can tell itself
   */
  private OptionalLong proveIfUnknown(long skuId) {
    Product product = products.findBySkuId(skuId).orElseThrow(Catalogue::unknown);
    if (!inFlight.isUnknownOf(product)) {
      return OptionalLong.empty();
    }
    if (!inFlight.isProvenNone(skuId)) {
      throw notProven();
    }
    return OptionalLong.of(product.epoch());
  }

  private static ProblemException notProven() {
    return ProblemException.conflict(
        "ORDERS_IN_FLIGHT",
        "Redis has lost the sale, or part of it, and orders of it may still be on their way;"
            + " preheat again when they are stored.");
  }

  private ProductRow inTransaction(long skuId, Loading loading, OptionalLong proven) {
    Product product = products.lock(skuId).orElseThrow(Catalogue::unknown);
    if (product.state().isRunning()) {
      throw ProblemException.saleConflict(
          "SALE_RUNNING", "Close the sale before it is preheated again.", product.state().name());
    }
    boolean unknown = inFlight.isUnknownOf(product);
    if (unknown && proven.orElse(-1) != product.epoch()) {
      throw notProven();
    }
    OrdersInFlight.Count count = inFlight.of(skuId, product.epoch(), product.settled());
    if (!count.isNone()) {
      throw ProblemException.conflict("ORDERS_IN_FLIGHT", "Still on their way: " + count + ".");
    }
    products.preheat(
        skuId,
        (int) loading.maxPerOrder().orElse(product.maxPerOrder()),
        (int) loading.retentionSeconds().orElse(product.retentionSeconds()),
        lastSeq(product, unknown),
        SaleState.PREHEATABLE);
    return products.findBySkuId(skuId).orElseThrow(Catalogue::unknown).row();
  }

  /**
   * The sequence number to continue from. When all orders are settled, it is at least the number in
   * Redis. When Redis has lost its number, it is above any that Redis can have used, as in a
   * rebuild: each order that was admitted and not stored held at least one unit.
   */
  private static long lastSeq(Product product, boolean unknown) {
    return Math.max(product.lastSeq(), product.settled()) + (unknown ? product.initialStock() : 0);
  }
}
