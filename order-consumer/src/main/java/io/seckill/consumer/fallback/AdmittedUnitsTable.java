package io.seckill.consumer.fallback;

import io.seckill.consumer.products.RedisSaleState;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The table {@code admitted_units}: what Redis was known to have admitted. */
@Component
public class AdmittedUnitsTable {

  private final JdbcClient jdbc;

  AdmittedUnitsTable(FallbackDatabase mysql) {
    this.jdbc = mysql.jdbc();
  }

  /**
   * The known admissions of Redis in the latest epoch of a sale that has some.
   *
   * @param units most that Redis had reported as admitted
   * @param isMoreUnknown whether a gateway may have promised unknown orders
   * @param lateUnits of orders of former epochs that MySQL has decided in this one
   */
  record KnownAdmissions(
      long skuId, long epoch, long units, boolean isMoreUnknown, long lateUnits) {}

  /** By SKU; a sale without any is absent. */
  static Map<Long, KnownAdmissions> known(JdbcClient jdbc, Collection<Long> skus) {
    return jdbc
        .sql(
            "SELECT sku_id, epoch, units, unknown_orders AS is_more_unknown, late_units"
                + " FROM admitted_units WHERE sku_id IN (:skus)")
        .param("skus", skus)
        .query(KnownAdmissions.class)
        .stream()
        .collect(Collectors.toMap(KnownAdmissions::skuId, Function.identity()));
  }

  /**
   * The late units of an epoch: those of orders of former epochs that MySQL has decided in it.
   *
   * @param units at least 1
   */
  public record LateUnits(long epoch, long units) {}

  /** Empty when the sale has none. */
  public Optional<LateUnits> late(long skuId) {
    return jdbc.sql(
            "SELECT epoch, late_units AS units FROM admitted_units"
                + " WHERE sku_id = ? AND late_units > 0")
        .param(skuId)
        .query(LateUnits.class)
        .optional();
  }

  /**
   * Removes late units that Redis counts as admitted, too; none when others are late by now.
   *
   * @param admitted units that Redis has reported as admitted, with these
   */
  public void forgetLate(long skuId, LateUnits late, long admitted) {
    jdbc.sql(
            "UPDATE admitted_units SET units = GREATEST(units, ?), late_units = 0"
                + " WHERE sku_id = ? AND epoch = ? AND late_units = ?")
        .params(admitted, skuId, late.epoch(), late.units())
        .update();
  }

  /** Keeps the most units that Redis had reported as admitted in the latest epoch. */
  void admitted(long skuId, long epoch, long units) {
    keep(skuId, epoch, units, false);
  }

  /** A gateway that ended, or has forgotten orders, may have promised unknown ones of this sale. */
  void moreIsUnknown(long skuId, long epoch) {
    keep(skuId, epoch, 0, true);
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
            late_units = IF(VALUES(epoch) > epoch, 0, late_units),
            epoch = GREATEST(epoch, VALUES(epoch))
            """)
        .params(skuId, epoch, units, isMoreUnknown)
        .update();
  }

  Set<Long> withUnknownOrders() {
    return jdbc.sql("SELECT sku_id FROM admitted_units WHERE unknown_orders = TRUE")
        .query(Long.class)
        .set();
  }

  /** A look that began when the orders were unknown already has shown them. */
  void allIsKnown(long skuId, RedisSaleState look) {
    admitted(skuId, look.epoch(), look.admittedUnits());
    jdbc.sql("UPDATE admitted_units SET unknown_orders = FALSE WHERE sku_id = ? AND epoch <= ?")
        .params(skuId, look.epoch())
        .update();
  }
}
