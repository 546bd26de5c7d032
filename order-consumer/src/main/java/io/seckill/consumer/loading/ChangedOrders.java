package io.seckill.consumer.loading;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.Sql;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * The changes in MySQL since a snapshot of a sale was loaded: orders that were stored, and orders
 * that have ended, which a compensation of the loading's epoch shows. Both come with the quotas of
 * their users. The results of payments are written once Redis decides the sale. The cost depends on
 * the number of changes, not on the size of the sale. For one thread.
 */
final class ChangedOrders {

  private final WrittenOrders written;
  private final BucketWriter writer;
  private final boolean keepsQuota;
  private final Set<OrderId> compensated = new HashSet<>();

  /** Those stored shortly before the last snapshot, which it has. */
  private Set<OrderId> recent = new HashSet<>();

  private String since;

  /** All orders that MySQL had decided, those of the changes included. */
  private long decided;

  private int orders;

  /**
   * @param database the snapshot that was written
   * @param time when it was taken, as {@link DatabaseSnapshot#beforeNow}
   */
  ChangedOrders(
      DatabaseSnapshot database, String time, ProductSnapshot sale, WrittenOrders written) {
    this.written = written;
    this.writer = written.writer();
    this.orders = written.orders();
    this.keepsQuota = sale.policy().keepsQuota();
    this.since = time;
    database.storedSince(sale.skuId(), since, since, this::keepRecent);
    this.decided = database.decided(sale.skuId()).orders();
    database.compensations(sale, page -> compensated.addAll(page.keySet()));
  }

  WrittenOrders written() {
    return written;
  }

  int orders() {
    return orders;
  }

  /**
   * Writes the orders that another snapshot has and the last one has not.
   *
   * @param beforeReplacing runs before each page
   * @return how many orders were stored
   */
  int write(DatabaseSnapshot database, ProductSnapshot sale, Runnable beforeReplacing) {
    String now = database.beforeNow();
    Set<OrderId> ended = new HashSet<>();
    database.compensations(
        sale,
        page ->
            page.forEach(
                (id, units) -> {
                  if (compensated.add(id)) {
                    writer.compensated(id, units);
                    ended.add(id);
                  }
                }));
    Set<OrderId> before = recent;
    recent = new HashSet<>();
    AtomicInteger stored = new AtomicInteger();
    database.storedSince(
        sale.skuId(),
        since,
        now,
        page -> {
          keepRecent(page);
          Set<OrderId> added = new HashSet<>(page.keySet());
          added.removeAll(before);
          ended.removeAll(added); // each is written once
          stored.addAndGet(added.size());
          write(database, sale, added, beforeReplacing);
        });
    write(database, sale, ended, beforeReplacing);
    written.ended().finish();
    writer.flush();
    since = now;
    decided += stored.get();
    orders += stored.get();
    return stored.get();
  }

  private void keepRecent(Map<OrderId, Boolean> page) {
    page.forEach(
        (id, isRecent) -> {
          if (isRecent) {
            recent.add(id);
          }
        });
  }

  private void write(
      DatabaseSnapshot database,
      ProductSnapshot sale,
      Set<OrderId> changed,
      Runnable beforeReplacing) {
    for (List<OrderId> page : Sql.chunks(changed, DatabaseSnapshot.CHUNK)) {
      beforeReplacing.run();
      write(database, sale, page);
    }
  }

  private void write(DatabaseSnapshot database, ProductSnapshot sale, List<OrderId> ids) {
    Map<OrderId, AdmissionRecord> orders = database.part(sale, ids, List.of()).orders();
    orders.forEach(written.ended()::rewrite);
    writeQuotas(
        database,
        sale,
        orders.values().stream().map(AdmissionRecord::userId).collect(Collectors.toSet()),
        Map.of());
  }

  /** Writes the orders that dead letters may become, and adds their units to the quotas. */
  void writeDead(DatabaseSnapshot database, ProductSnapshot sale, List<OrderMessage> dead) {
    Map<Long, Long> units = WrittenOrders.unitsByUser(dead);
    writeQuotas(database, sale, units.keySet(), units);
    written.dead(dead, sale.epoch());
  }

  private void writeQuotas(
      DatabaseSnapshot database, ProductSnapshot sale, Set<Long> users, Map<Long, Long> more) {
    if (keepsQuota) {
      Map<Long, Long> quotas = database.part(sale, List.of(), new ArrayList<>(users)).quotas();
      users.forEach(
          user -> writer.quota(user, quotas.getOrDefault(user, 0L) + more.getOrDefault(user, 0L)));
    }
  }

  /**
   * Whether all orders that MySQL has decided were loaded. An order that was stored under another
   * id, or by a transaction that took longer than any does, is none of the changes found here.
   */
  boolean areAll(DatabaseSnapshot database, ProductSnapshot sale) {
    return database.decided(sale.skuId()).orders() == decided;
  }
}
