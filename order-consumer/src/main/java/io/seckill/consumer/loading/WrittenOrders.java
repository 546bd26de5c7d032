package io.seckill.consumer.loading;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.loading.SaleLoader.Replacing;
import io.seckill.consumer.products.ProductSnapshot;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/** The orders and quotas of a snapshot, which a loading has written into Redis, and how many. */
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
    EndedOrders ended = new EndedOrders(writer, steps.buckets(), database.now());
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
          page.forEach(writer::compensated);
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

  /**
   * Loads the orders that hold no units any more, as far as compensate.lua would still keep them:
   * for a repeat of their requests, {@link #KEPT} and at most {@value #MOST} of a bucket. For one
   * thread.
   */
  static final class EndedOrders {

    /** As in compensate.lua. */
    static final Duration KEPT = Duration.ofHours(1);

    /** As in compensate.lua. */
    static final int MOST = 128;

    private final BucketWriter writer;
    private final long afterMs;
    private final int buckets;

    /** By bucket; some hundred kilobytes for ten million units. */
    private final short[] loaded;

    /** Buckets with more than the last {@link #finish} has written. */
    private final BitSet changed = new BitSet();

    /** {@code nowMs} is by MySQL's clock, in Unix ms. */
    EndedOrders(BucketWriter writer, int buckets, long nowMs) {
      this.writer = writer;
      this.afterMs = nowMs - KEPT.toMillis();
      this.buckets = buckets;
      this.loaded = new short[buckets];
    }

    /** Writes the orders of a page that Redis is to have. */
    void write(Map<OrderId, AdmissionRecord> page) {
      page.forEach(
          (id, order) -> {
            if (!order.status().hasEnded()) {
              writer.order(id, order);
            } else if (order.changedAt() > afterMs && isBelowTheMost(order)) {
              ended(id, order);
            }
          });
    }

    /** Writes an order that may have been written before, when it had not ended. */
    void rewrite(OrderId id, AdmissionRecord order) {
      if (!order.status().hasEnded()) {
        writer.order(id, order);
      } else if (isBelowTheMost(order)) {
        ended(id, order);
      } else {
        writer.noOrder(id, order);
      }
    }

    private void ended(OrderId id, AdmissionRecord order) {
      int bucket = bucketOf(order);
      writer.order(id, order);
      writer.ended(id, order, ++loaded[bucket]);
      changed.set(bucket);
    }

    private boolean isBelowTheMost(AdmissionRecord order) {
      return loaded[bucketOf(order)] < MOST;
    }

    private int bucketOf(AdmissionRecord order) {
      return RedisKeys.bucketOf(order.userId(), buckets);
    }

    /** Writes how many there are; call it after the last page, and after rewriting others. */
    void finish() {
      changed.stream().forEach(bucket -> writer.endedRange(bucket, loaded[bucket]));
      changed.clear();
    }
  }
}
