package io.seckill.consumer.loading;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.loading.SaleLoader.Replacing;
import io.seckill.consumer.products.ProductSnapshot;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * The orders and quotas of a snapshot, which a loading has written into Redis.
 *
 * @param orders number of orders
 */
record WrittenOrders(SaleLoading steps, BucketWriter writer, EndedOrders ended, int orders) {

  /**
   * Takes the sale off sale, and writes its orders and quotas as MySQL has them, with the orders
   * that dead letters may become.
   *
   * @param beforeReplacing runs before each step that replaces something
   */
  static WrittenOrders write(
      SaleLoading steps,
      ProductSnapshot sale,
      DatabaseSnapshot database,
      List<OrderMessage> dead,
      Replacing replacing,
      Runnable beforeReplacing) {
    beforeReplacing.run();
    steps.clear(steps.begin(database.count(sale.skuId(), dead), replacing));
    BucketWriter writer = steps.writer();
    EndedOrders ended = new EndedOrders(writer, sale.buckets(), database.now());
    AtomicInteger orders = new AtomicInteger();
    database
        .stored()
        .pages(
            sale.skuId(),
            page -> {
              beforeReplacing.run();
              ended.write(page);
              orders.addAndGet(withoutAliases(page));
            });
    ended.finish();
    database.compensations(
        sale,
        page -> {
          beforeReplacing.run();
          page.forEach(
              (id, units) -> writer.compensated(id, units.userId(), units.stock(), units.quota()));
        });
    if (sale.policy().keepsQuota()) {
      writeQuotas(sale, database, dead, writer, beforeReplacing);
    }
    WrittenOrders written = new WrittenOrders(steps, writer, ended, orders.get());
    written.dead(dead, sale.epoch());
    return written;
  }

  private static void writeQuotas(
      ProductSnapshot sale,
      DatabaseSnapshot database,
      List<OrderMessage> dead,
      BucketWriter writer,
      Runnable beforeReplacing) {
    Map<Long, Long> deadUnits = unitsByUser(dead);
    database.quotas(
        sale.skuId(),
        page -> {
          beforeReplacing.run();
          page.forEach(
              (user, units) ->
                  writer.quota(
                      user, units + Optional.ofNullable(deadUnits.remove(user)).orElse(0L)));
        });
    deadUnits.forEach(writer::quota);
  }

  private static int withoutAliases(Map<OrderId, AdmissionRecord> page) {
    return (int) page.values().stream().filter(order -> order.storedOrderId() == null).count();
  }

  /** Units that dead letters may take, by user. */
  static Map<Long, Long> unitsByUser(List<OrderMessage> dead) {
    return dead.stream()
        .collect(
            Collectors.groupingBy(
                OrderMessage::userId, Collectors.summingLong(OrderMessage::quantity)));
  }

  /** Writes the orders that dead letters may become. */
  void dead(List<OrderMessage> orders, long epoch) {
    orders.forEach(order -> writer.order(order.orderId(), delayed(order, epoch)));
    writer.flush();
  }

  /**
   * The record says that this epoch has taken the order's units, so that they return to it when the
   * order is rejected.
   */
  private static AdmissionRecord delayed(OrderMessage order, long epoch) {
    AdmissionRecord queued = AdmissionRecord.queued(order);
    return new AdmissionRecord(
        queued.userId(),
        queued.requestId(),
        queued.quantity(),
        queued.seq(),
        queued.admittedAt(),
        epoch,
        OrderStatus.DELAYED,
        null,
        queued.changedAt(),
        null);
  }
}
