package io.seckill.consumer.storage;

import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.orders.OrderTotalTable;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Collects the units that a transaction takes from each product until its end: stock is updated
 * last.
 */
final class BatchTally {

  private final SortedMap<Long, Sku> skus = new TreeMap<>();
  private final OrderTotalTable.Addition totals = new OrderTotalTable.Addition();

  /** Adds an order that this transaction settles; it takes its units when its fate is CONFIRMED. */
  void add(OrderMessage order, OrderFate fate) {
    Sku sku = skus.computeIfAbsent(order.skuId(), id -> new Sku());
    sku.orders++;
    sku.lastSeq = Math.max(sku.lastSeq, order.seq());
    sku.units += fate == OrderFate.CONFIRMED ? order.quantity() : 0;
    sku.promised += order.quantity();
    totals.add(order.skuId(), fate, order.quantity());
  }

  /** SKUs in ascending order, in which product rows are locked. */
  Set<Long> skus() {
    return skus.keySet();
  }

  /**
   * Takes the stock of each SKU, and counts the orders. Returns false when one has too little: the
   * transaction is incomplete then.
   */
  boolean take(JdbcOperations jdbc) {
    boolean taken = true;
    for (Map.Entry<Long, Sku> entry : skus.entrySet()) {
      taken &= entry.getValue().take(jdbc, entry.getKey());
    }
    totals.write(jdbc);
    return taken;
  }

  private static final class Sku {
    private long units;
    private long promised;
    private int orders;
    private long lastSeq;

    private boolean take(JdbcOperations jdbc, long id) {
      return ProductTable.take(jdbc, id, units, promised, orders, lastSeq);
    }
  }
}
