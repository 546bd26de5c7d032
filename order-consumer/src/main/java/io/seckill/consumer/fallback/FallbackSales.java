package io.seckill.consumer.fallback;

import io.seckill.common.sale.SaleFallback;
import io.seckill.consumer.fallback.RedisLooks.Look;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The columns of {@code products} that a fallback changes, and {@code admitted_units}. Every change
 * of a sale raises its {@code state_version}, so that no purchase that was decided before is
 * confirmed after it.
 */
@Component
class FallbackSales {

  /** Sales that Redis must have. */
  private static final String WANTED =
      "state IN ('PREHEATED', 'OPEN', 'PAUSED') AND closes_at > UTC_TIMESTAMP(3)";

  private static final String ENTER =
      "UPDATE products SET decides = 'MYSQL', fallback = 'ENTERING', epoch = epoch + 1,"
          + " state_version = state_version + 1, settled = ? WHERE sku_id = ?";

  private static final String RESUME =
      "UPDATE products SET fallback = 'ACTIVE', epoch = epoch + 1,"
          + " state_version = state_version + 1 WHERE fallback = 'RETURNING'";

  private static final String ACTIVATE =
      "UPDATE products SET fallback = 'ACTIVE', reserved_units = ?, reserves_all = ?,"
          + " state_version = state_version + 1 WHERE sku_id = ?";

  private final JdbcClient jdbc;

  FallbackSales(FallbackDatabase mysql) {
    this.jdbc = mysql.jdbc();
  }

  /** A sale that MySQL decides, or is about to, or was until its loading. */
  record InFallback(long skuId, SaleFallback fallback, long reservedUnits) {}

  /** A sale of Redis as MySQL has it. */
  record Expected(long skuId, long epoch, long lastSeq) {}

  /**
   * What is known of the admissions of Redis in an epoch.
   *
   * @param units most that Redis had reported as admitted
   * @param isMoreUnknown whether a gateway that ended may have promised orders that nobody has seen
   */
  private record KnownAdmissions(long units, boolean isMoreUnknown) {
    private static final KnownAdmissions NOTHING = new KnownAdmissions(0, false);
  }

  /** A row that the transaction has locked. */
  private record Locked(long epoch, long stock) {}

  List<InFallback> all() {
    return jdbc.sql(
            "SELECT sku_id, fallback, reserved_units FROM products WHERE fallback <> 'NO'"
                + " ORDER BY sku_id")
        .query(InFallback.class)
        .list();
  }

  /** Sales that Redis decides, or did when the fallback began. */
  List<Expected> ofRedis() {
    return jdbc.sql(
            "SELECT sku_id, epoch - (fallback = 'ENTERING') AS epoch, last_seq FROM products"
                + " WHERE (decides = 'REDIS' OR fallback <> 'NO') AND "
                + WANTED)
        .query(Expected.class)
        .list();
  }

  /**
   * Stops all sales that Redis decides, in the caller's transaction. While their rows are locked,
   * no order is stored: {@code settled} becomes the number of their orders, as of a strong sale.
   *
   * @return how many
   */
  int enter() {
    List<Long> skus =
        jdbc.sql(
                "SELECT sku_id FROM products WHERE decides = 'REDIS' AND "
                    + WANTED
                    + " ORDER BY sku_id FOR UPDATE")
            .query(Long.class)
            .list();
    skus.forEach(
        sku -> jdbc.sql(ENTER).params(OrderTotalTable.decided(jdbc, sku).orders(), sku).update());
    return skus.size();
  }

  /** Lets MySQL sell on those sales whose loading into Redis has not ended. */
  void resume() {
    jdbc.sql(RESUME).update();
  }

  /**
   * Lets MySQL decide a sale, in the caller's transaction.
   *
   * @param look the last one at this sale in Redis
   * @param switchNanos System.nanoTime() when the fallback began
   * @param isWhole whether every registered gateway has handed over everything
   * @param percent of what was unsold that is to be reserved otherwise
   */
  void activate(long skuId, Optional<Look> look, long switchNanos, boolean isWhole, int percent) {
    Locked sale =
        jdbc.sql(
                "SELECT epoch, stock FROM products WHERE sku_id = ? AND fallback = 'ENTERING'"
                    + " FOR UPDATE")
            .param(skuId)
            .query(Locked.class)
            .optional()
            .orElse(null);
    if (sale != null) {
      long epoch = sale.epoch() - 1; // entering has raised it by one
      KnownAdmissions known = known(skuId, epoch);
      Reserve reserve =
          Reserve.of(
              look.filter(found -> found.epoch() == epoch),
              switchNanos,
              known.units(),
              OrderTotalTable.decided(jdbc, skuId).units(),
              isWhole && !known.isMoreUnknown() ? 0 : percent,
              sale.stock());
      jdbc.sql(ACTIVATE).params(reserve.units(), reserve.isAll(), skuId).update();
    }
  }

  private KnownAdmissions known(long skuId, long epoch) {
    return jdbc.sql(
            "SELECT units, unknown_orders AS is_more_unknown FROM admitted_units"
                + " WHERE sku_id = ? AND epoch = ?")
        .params(skuId, epoch)
        .query(KnownAdmissions.class)
        .optional()
        .orElse(KnownAdmissions.NOTHING);
  }

  /** Keeps the most units that Redis had reported as admitted in the latest epoch. */
  void admitted(long skuId, long epoch, long units) {
    keep(skuId, epoch, units, false);
  }

  /** A gateway that ended may have promised orders of this sale that nobody has seen. */
  void moreIsUnknown(Expected sale) {
    keep(sale.skuId(), sale.epoch(), 0, true);
  }

  private void keep(long skuId, long epoch, long units, boolean isMoreUnknown) {
    jdbc.sql(
            """
            INSERT INTO admitted_units (sku_id, epoch, units, unknown_orders) VALUES (?, ?, ?, ?)
            ON DUPLICATE KEY UPDATE
            units = IF(VALUES(epoch) > epoch, VALUES(units),
              IF(VALUES(epoch) = epoch, GREATEST(units, VALUES(units)), units)),
            unknown_orders = IF(VALUES(epoch) > epoch, VALUES(unknown_orders),
              IF(VALUES(epoch) = epoch, unknown_orders OR VALUES(unknown_orders), unknown_orders)),
            epoch = GREATEST(epoch, VALUES(epoch))
            """)
        .params(skuId, epoch, units, isMoreUnknown)
        .update();
  }

  /** SKUs with orders that nobody has seen. */
  Set<Long> withUnknownOrders() {
    return jdbc.sql("SELECT sku_id FROM admitted_units WHERE unknown_orders = TRUE")
        .query(Long.class)
        .set();
  }

  /** A look that began when the orders were unknown already has shown them. */
  void allIsKnown(long skuId, Look look) {
    admitted(skuId, look.epoch(), look.admittedUnits());
    jdbc.sql("UPDATE admitted_units SET unknown_orders = FALSE WHERE sku_id = ? AND epoch <= ?")
        .params(skuId, look.epoch())
        .update();
  }

  /**
   * Gives up what is reserved: the orders that it was for are declared lost.
   *
   * @return units released
   * @throws ProblemException 404 UNKNOWN_SKU; 409 REFUSED when MySQL does not decide the sale in a
   *     fallback
   */
  long release(long skuId) {
    InFallback sale =
        jdbc.sql(
                "SELECT sku_id, fallback, reserved_units FROM products WHERE sku_id = ? FOR UPDATE")
            .param(skuId)
            .query(InFallback.class)
            .optional()
            .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU));
    if (sale.fallback() != SaleFallback.ACTIVE) {
      throw ProblemException.of(
          ProblemCode.REFUSED, "MySQL does not decide this sale in a fallback now.");
    }
    jdbc.sql("UPDATE products SET reserved_units = 0 WHERE sku_id = ?").param(skuId).update();
    return sale.reservedUnits();
  }
}
