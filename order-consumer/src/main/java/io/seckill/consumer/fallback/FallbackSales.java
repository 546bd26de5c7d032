package io.seckill.consumer.fallback;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The columns of {@code products} that a fallback changes, and {@code admitted_units}. Every change
 * of a sale's phase raises its {@code state_version}, so that no purchase that was decided before
 * is confirmed after it.
 */
@Component
public class FallbackSales {

  /**
   * SQL: further assignments of the statement that raises a sale's epoch for a loading. A sale in a
   * fallback begins to be loaded, with nothing reserved; one that Redis decides stays as it is.
   */
  public static final String BEGIN_LOADING =
      "state_version = state_version + (sale_phase <> 'REDIS'), reserved_units = 0,"
          + " fallback = IF(sale_phase = 'REDIS', 'NO', 'LOADING')";

  /** SQL: whether {@link #BEGIN_LOADING} may be: not before promised orders are transferred. */
  public static final String LOADABLE = "sale_phase IN ('REDIS', 'MYSQL', 'LOADING', 'RETURNING')";

  private static final String END =
      "UPDATE products SET decides = 'REDIS', fallback = 'NO', reserved_units = 0,"
          + " state_version = state_version + 1";

  /** Sales that Redis must have. */
  private static final String WANTED =
      "state IN ('PREHEATED', 'OPEN', 'PAUSED') AND closes_at > UTC_TIMESTAMP(3)";

  private static final String ENTER =
      "UPDATE products SET decides = 'MYSQL', fallback = 'ENTERING', epoch = epoch + 1,"
          + " state_version = state_version + 1, settled = ? WHERE sku_id = ?";

  /** By the column that has an index. */
  private static final String RESUME =
      "UPDATE products SET fallback = 'ACTIVE', epoch = epoch + 1,"
          + " state_version = state_version + 1 WHERE fallback IN ('LOADING', 'RETURNING')";

  private static final String ACTIVATE =
      "UPDATE products SET fallback = 'ACTIVE', reserved_units = ?, reserves_all = ?,"
          + " state_version = state_version + 1 WHERE sku_id = ?";

  private final JdbcClient jdbc;

  FallbackSales(FallbackDatabase mysql) {
    this.jdbc = mysql.jdbc();
  }

  /** A sale that MySQL decides, or is about to, or was until its loading. */
  @JsonPropertyOrder({"skuId", "fallback", "reservedUnits"})
  record InFallback(long skuId, @JsonIgnore SalePhase phase, long reservedUnits) {

    @JsonProperty
    String fallback() {
      return phase.fallback();
    }
  }

  /** A sale of Redis as MySQL has it. */
  record Expected(long skuId, long epoch, long lastSeq, long changeSeq) {}

  /**
   * The known admissions of Redis in an epoch.
   *
   * @param units most that Redis had reported as admitted
   * @param isMoreUnknown whether a gateway that ended may have promised unknown orders
   */
  private record KnownAdmissions(long units, boolean isMoreUnknown) {
    private static final KnownAdmissions NOTHING = new KnownAdmissions(0, false);
  }

  /** A row that the transaction has locked. */
  private record Locked(long epoch, long stock) {}

  List<InFallback> all() {
    return jdbc.sql(
            "SELECT sku_id, sale_phase AS phase, reserved_units FROM products"
                + " WHERE fallback <> 'NO' ORDER BY sku_id") // this column has the index
        .query(InFallback.class)
        .list();
  }

  /** Sales that Redis decides, or did when the fallback began. */
  List<Expected> ofRedis() {
    return jdbc.sql(
            "SELECT sku_id, epoch - (sale_phase = 'ENTERING') AS epoch, last_seq,"
                + " change_seq FROM products WHERE "
                + SalePhase.OF_REDIS
                + " AND "
                + WANTED)
        .query(Expected.class)
        .list();
  }

  /**
   * Stops all sales that Redis decides, in the caller's transaction. While their rows are locked,
   * no order is stored: {@code settled} becomes the number of their orders, as of a strong sale.
   * Returns how many.
   */
  int enter() {
    List<Long> skus =
        jdbc.sql(
                "SELECT sku_id FROM products WHERE "
                    + SalePhase.REDIS_DECIDES
                    + " AND "
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
   * @param look the last one at this sale in Redis: so much was admitted at least
   * @param isWhole whether every registered gateway has transferred everything
   */
  void activate(long skuId, Optional<RedisSaleState> look, boolean isWhole) {
    Locked sale =
        jdbc.sql(
                "SELECT epoch, stock FROM products WHERE sku_id = ? AND sale_phase = 'ENTERING'"
                    + " FOR UPDATE")
            .param(skuId)
            .query(Locked.class)
            .optional()
            .orElse(null);
    if (sale != null) {
      long epoch = sale.epoch() - 1; // entering has raised it by one
      KnownAdmissions known = known(skuId, epoch);
      long seen =
          look.filter(found -> found.epoch() == epoch)
              .map(RedisSaleState::admittedUnits)
              .orElse(0L);
      Reserve reserve =
          Reserve.of(
              Math.max(known.units(), seen),
              OrderTotalTable.decided(jdbc, skuId).units(),
              isWhole && !known.isMoreUnknown(),
              sale.stock());
      jdbc.sql(ACTIVATE).params(reserve.units(), reserve.isAll(), skuId).update();
    }
  }

  /**
   * Lets MySQL sell on a sale whose loading has failed, under another epoch: the rest of the
   * loading admits nothing.
   */
  public static void resume(JdbcClient jdbc, long skuId) {
    jdbc.sql(RESUME + " AND sku_id = ?").param(skuId).update();
  }

  /**
   * Stops a sale whose loading needs only the changes since it began. Returns false when another
   * loading has begun, or the fallback goes on.
   */
  public static boolean stop(JdbcClient jdbc, long skuId, long epoch) {
    return jdbc.sql(
                "UPDATE products SET fallback = 'RETURNING', state_version = state_version + 1"
                    + " WHERE sku_id = ? AND epoch = ? AND sale_phase = 'LOADING'")
            .params(skuId, epoch)
            .update()
        == 1;
  }

  /**
   * Lets Redis, which has been loaded, decide a sale.
   *
   * @param jdbc of the transaction that has locked the row
   * @param settled orders, on the scale of Redis's sequence; MySQL has counted rows
   */
  public static void end(JdbcClient jdbc, long skuId, long settled) {
    jdbc.sql(END + ", settled = ? WHERE sku_id = ?").params(settled, skuId).update();
  }

  /** Ends the fallback of a sale that Redis need not have any more; not once it has changed. */
  public static void abandon(JdbcClient jdbc, long skuId, long epoch) {
    jdbc.sql(
            END
                + " WHERE sku_id = ? AND epoch = ? AND sale_phase IN ('MYSQL', 'LOADING', 'RETURNING')")
        .params(skuId, epoch)
        .update();
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

  /** A gateway that ended may have promised unknown orders of this sale. */
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

  /**
   * Releases the reserved units, of a SKU with shards those of all that have not returned yet: the
   * orders that they were for are declared lost.
   *
   * @return units released
   * @throws ProblemException 404 UNKNOWN_SKU; 409 REFUSED when MySQL does not decide the sale in a
   *     fallback
   */
  long release(long skuId) {
    List<Long> shards =
        ProductRows.find(jdbc, skuId).map(ProductSnapshot::shardIds).orElse(List.of());
    List<InFallback> sales =
        (shards.isEmpty() ? List.of(skuId) : shards)
            .stream()
                .map(this::lock)
                .filter(
                    sale -> sale.phase() == SalePhase.MYSQL || sale.phase() == SalePhase.LOADING)
                .toList();
    if (sales.isEmpty()) {
      throw ProblemException.of(
          ProblemCode.REFUSED, "MySQL does not decide this sale in a fallback now.");
    }
    sales.forEach(
        sale ->
            jdbc.sql("UPDATE products SET reserved_units = 0 WHERE sku_id = ?")
                .param(sale.skuId())
                .update());
    return sales.stream().mapToLong(InFallback::reservedUnits).sum();
  }

  private InFallback lock(long skuId) {
    return jdbc.sql(
            "SELECT sku_id, sale_phase AS phase, reserved_units FROM products"
                + " WHERE sku_id = ? FOR UPDATE")
        .param(skuId)
        .query(InFallback.class)
        .optional()
        .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU));
  }
}
