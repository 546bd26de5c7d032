package io.seckill.consumer.catalogue;

import io.seckill.consumer.internal.ProblemException;
import java.util.OptionalLong;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;

/**
 * MySQL's half of a preheat: raises the epoch and hands out the row from which the gateway writes
 * Redis. When the gateway gets no further, the preheat is simply asked for again: it raises the
 * epoch once more, and what the first one may have written is of an older epoch.
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
   * What the gateway writes beside the rules.
   *
   * @param maxPerOrder most units of one order; empty to leave it as it is, as the next
   * @param retentionSeconds how long Redis keeps the sale after its closing
   */
  record Loading(OptionalLong maxPerOrder, OptionalLong retentionSeconds) {}

  /**
   * @return the row with its new epoch, as committed
   * @throws ProblemException 404 UNKNOWN_SKU, 409 SALE_RUNNING, 409 ORDERS_IN_FLIGHT
   */
  ProductRow of(long skuId, Loading loading) {
    ProductRow row = transactions.execute(tx -> inTransaction(skuId, loading));
    if (row == null) {
      throw new IllegalStateException("a transaction without an answer");
    }
    return row;
  }

  private ProductRow inTransaction(long skuId, Loading loading) {
    Product product = products.lock(skuId).orElseThrow(Catalogue::unknown);
    if (product.state().isRunning()) {
      throw ProblemException.saleConflict(
          "SALE_RUNNING", "Close the sale before it is preheated again.", product.state().name());
    }
    OrdersInFlight.Count count = inFlight.of(skuId, product.epoch(), product.settled());
    if (!count.isNone()) {
      throw ProblemException.conflict("ORDERS_IN_FLIGHT", "Still on their way: " + count + ".");
    }
    products.preheat(
        skuId,
        (int) loading.maxPerOrder().orElse(product.maxPerOrder()),
        (int) loading.retentionSeconds().orElse(product.retentionSeconds()),
        SaleState.PREHEATABLE);
    return products.findBySkuId(skuId).orElseThrow(Catalogue::unknown).row();
  }
}
