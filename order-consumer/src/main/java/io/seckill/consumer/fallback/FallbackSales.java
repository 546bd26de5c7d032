package io.seckill.consumer.fallback;

import io.seckill.common.sale.SaleFallback;
import io.seckill.consumer.fallback.RedisLooks.Look;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Optional;
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
   * @param percent of what was unsold that is to be reserved
   */
  void activate(long skuId, Optional<Look> look, int percent) {
    Locked sale =
        jdbc.sql(
                "SELECT epoch, stock FROM products WHERE sku_id = ? AND fallback = 'ENTERING'"
                    + " FOR UPDATE")
            .param(skuId)
            .query(Locked.class)
            .optional()
            .orElse(null);
    if (sale != null) {
      Reserve reserve = reserve(skuId, sale, look, percent);
      jdbc.sql(ACTIVATE).params(reserve.units(), reserve.isAll(), skuId).update();
    }
  }

  /** Entering has raised the epoch by one. */
  private Reserve reserve(long skuId, Locked sale, Optional<Look> look, int percent) {
    long epoch = sale.epoch() - 1;
    Optional<Look> seen = look.filter(found -> found.epoch() == epoch);
    return new Reserve(
        Math.max(admitted(skuId, epoch), seen.map(Look::admittedUnits).orElse(0L)),
        OrderTotalTable.decided(jdbc, skuId).units(),
        seen.map(Look::stock).orElse(sale.stock()),
        percent,
        sale.stock());
  }

  private long admitted(long skuId, long epoch) {
    return jdbc.sql("SELECT units FROM admitted_units WHERE sku_id = ? AND epoch = ?")
        .params(skuId, epoch)
        .query(Long.class)
        .optional()
        .orElse(0L);
  }

  /** Keeps the most units that anybody was told Redis had admitted in the latest epoch. */
  void admitted(long skuId, long epoch, long units) {
    jdbc.sql(
            """
            INSERT INTO admitted_units (sku_id, epoch, units) VALUES (?, ?, ?)
            ON DUPLICATE KEY UPDATE
            units = IF(VALUES(epoch) > epoch, VALUES(units),
              IF(VALUES(epoch) = epoch, GREATEST(units, VALUES(units)), units)),
            epoch = GREATEST(epoch, VALUES(epoch))
            """)
        .params(skuId, epoch, units)
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
