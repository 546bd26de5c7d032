package io.seckill.consumer.fallback;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.fallback.AdmittedUnitsTable.KnownAdmissions;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.products.RedisSaleState;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * Reserves units of sales for orders that Redis may have promised, many sales with a few
 * statements: nobody sells them until then.
 *
 * @param looks the last one at each sale in Redis: so much was admitted at least
 */
record SaleReserves(JdbcClient jdbc, SaleObservations looks) {

  private static final String LOCK_ENTERING =
      "SELECT sku_id, epoch, stock AS units FROM products FORCE INDEX (PRIMARY)"
          + " WHERE sku_id IN (:skus) AND sale_phase = 'ENTERING' FOR UPDATE";

  private static final String ACTIVATE =
      "UPDATE products SET fallback = 'ACTIVE', reserved_units = :units, reserves_all = :all,"
          + " state_version = state_version + 1 WHERE sku_id IN (:skus)";

  private static final String LOCK_RESERVED =
      "SELECT sku_id, epoch, reserved_units AS units FROM products FORCE INDEX (PRIMARY)"
          + " WHERE sku_id IN (:skus) AND sale_phase = 'MYSQL' AND reserves_all"
          + " AND reserved_units > 0 AND "
          + FallbackSales.WANTED
          + " FOR UPDATE";

  private static final String REDUCE =
      "UPDATE products SET reserved_units = :units, reserves_all = :all WHERE sku_id IN (:skus)";

  /** Of the processes that take blocks of ids, far above what is normal. */
  private static final Duration CLOCKS_DIFFER = Duration.ofMinutes(2);

  /** Of orders that MySQL decided under this epoch, after an order of this id. */
  private static final String SOLD =
      "SELECT COALESCE(SUM(quantity), 0) FROM orders FORCE INDEX (ix_orders_sku)"
          + " WHERE sku_id = ? AND order_id > ? AND (order_id >> "
          + OrderId.SEQUENCE_BITS
          + " & "
          + OrderId.MYSQL_WORKER
          + ") = "
          + OrderId.MYSQL_WORKER
          + " AND epoch = ?";

  /** A row that the transaction has locked, with the units that can be reserved. */
  private record Locked(long skuId, long epoch, long units) {}

  /**
   * Lets MySQL decide sales, in the caller's transaction.
   *
   * @param waits false to leave out sales that another transaction has locked
   * @param isWhole whether every registered gateway has transferred everything
   * @return the SKUs of the locked sales: MySQL decides them now
   */
  List<Long> activate(List<Long> skus, boolean waits, boolean isWhole) {
    String lock = LOCK_ENTERING + (waits ? "" : " SKIP LOCKED");
    List<Locked> sales = jdbc.sql(lock).param("skus", skus).query(Locked.class).list();
    return reserve(ACTIVATE, sales, isWhole, sale -> 0);
  }

  /**
   * Reserves for sales with all stock reserved, in the caller's transaction, what {@link #activate}
   * would have when every gateway had transferred everything by then. No look includes a sale that
   * is over.
   *
   * @param begun MySQL has decided nothing of this epoch before
   */
  List<Long> reduce(List<Long> skus, boolean waits, Instant begun) {
    String lock = LOCK_RESERVED + (waits ? "" : " SKIP LOCKED");
    List<Locked> sales = jdbc.sql(lock).param("skus", skus).query(Locked.class).list();
    return reserve(REDUCE, sales, true, sale -> sold(sale.skuId(), sale.epoch(), begun));
  }

  /** Makes an update of the locked sales, one for all with the same reserve. Returns their SKUs. */
  private List<Long> reserve(
      String update, List<Locked> sales, boolean isWhole, ToLongFunction<Locked> ofMySql) {
    if (sales.isEmpty()) {
      return List.of();
    }
    List<Long> skus = sales.stream().map(Locked::skuId).toList();
    Map<Long, OrderTotals> decided = OrderTotalTable.decided(jdbc, skus);
    Map<Long, KnownAdmissions> known = AdmittedUnitsTable.known(jdbc, skus);
    Map<Reserve, List<Long>> reserves = new HashMap<>();
    for (Locked sale : sales) {
      long sku = sale.skuId();
      long units = decided.getOrDefault(sku, OrderTotals.NONE).units() - ofMySql.applyAsLong(sale);
      Reserve reserve =
          reserve(sale, Optional.ofNullable(known.get(sku)), looks.of(sku), units, isWhole);
      reserves.computeIfAbsent(reserve, any -> new ArrayList<>()).add(sku);
    }
    reserves.forEach(
        (reserve, some) ->
            jdbc.sql(update)
                .param("units", reserve.units())
                .param("all", reserve.isAll())
                .param("skus", some)
                .update());
    return skus;
  }

  private static Reserve reserve(
      Locked sale,
      Optional<KnownAdmissions> admissions,
      Optional<RedisSaleState> look,
      long decided,
      boolean isWhole) {
    long epoch = sale.epoch() - 1; // entering has raised it by one
    Optional<KnownAdmissions> known = admissions.filter(found -> found.epoch() == epoch);
    long seen =
        look.filter(found -> found.epoch() == epoch).map(RedisSaleState::admittedUnits).orElse(0L);
    return Reserve.of(
        Math.max(known.map(KnownAdmissions::units).orElse(0L), seen),
        decided - known.map(KnownAdmissions::lateUnits).orElse(0L),
        isWhole && !known.map(KnownAdmissions::isMoreUnknown).orElse(false),
        sale.units());
  }

  private long sold(long skuId, long epoch, Instant begun) {
    long from = begun.minus(CLOCKS_DIFFER).toEpochMilli();
    OrderId first = OrderId.of(Math.max(OrderId.EPOCH_MS + 1, from), 0, 0, 0);
    return jdbc.sql(SOLD).params(skuId, first.value(), epoch).query(Long.class).single();
  }
}
