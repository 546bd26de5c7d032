package io.seckill.consumer.storage;

import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.orders.OrderFate;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.orders.SkuProgress;
import java.util.List;
import java.util.Map;
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
    sku.promised.merge(order.epoch(), (long) order.quantity(), Long::sum);
    totals.add(order.skuId(), fate, order.quantity());
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

  /** The progress of the SKUs after {@link #take}, which late orders are counted for. */
  List<SkuProgress> progress(JdbcOperations jdbc) {
    List<SkuProgress> progress =
        skus.isEmpty() ? List.of() : ProductTable.progress(jdbc, skus.keySet());
    for (SkuProgress now : progress) {
      Sku sku = skus.get(now.skuId());
      if (sku != null) {
        sku.promised
            .headMap(now.epoch())
            .forEach((epoch, units) -> ProductTable.addLate(jdbc, now.skuId(), epoch, units));
      }
    }
    return progress;
  }

  private static final class Sku {
    private long units;
    private int orders;
    private long lastSeq;

    /** Units of all orders by their epoch, mostly one. */
    private final SortedMap<Long, Long> promised = new TreeMap<>();

    private boolean take(JdbcOperations jdbc, long id) {
      long epoch = promised.lastKey();
      long newest = promised.getOrDefault(epoch, 0L);
      return ProductTable.take(jdbc, id, units, epoch, newest, orders, lastSeq);
    }
  }
}
