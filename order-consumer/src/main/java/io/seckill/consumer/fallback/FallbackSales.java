package io.seckill.consumer.fallback;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.Sql;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The columns of {@code products} that a fallback changes. Every change of a sale's phase raises
 * its {@code state_version}, so that no purchase that was decided before is confirmed after it.
 */
@Component
public class FallbackSales {

  /**
   * SQL: further assignments of the statement that raises a sale's epoch for a loading. A sale in a
   * fallback begins to be loaded; one that Redis decides stays as it is.
   */
  public static final String BEGIN_LOADING =
      "state_version = state_version + (sale_phase <> 'REDIS'),"
          + " fallback = IF(sale_phase = 'REDIS', 'NO', 'LOADING')";

  /** SQL: whether {@link #BEGIN_LOADING} may be: not before promised orders are transferred. */
  public static final String LOADABLE = "sale_phase IN ('REDIS', 'MYSQL', 'LOADING', 'RETURNING')";

  private static final String END =
      "UPDATE products SET decides = 'REDIS', fallback = 'NO', reserved_units = 0,"
          + " state_version = state_version + 1";

  /** Sales that Redis must have. */
  static final String WANTED =
      "state IN ('PREHEATED', 'OPEN', 'PAUSED') AND closes_at > UTC_TIMESTAMP(3)";

  private static final String EXPECTED =
      "SELECT sku_id AS id, epoch - (sale_phase IN ('ENTERING', 'MYSQL')) AS epoch, last_seq,"
          + " change_seq, COALESCE(replication_id, '') AS server FROM products"
          + " LEFT JOIN redis_server ON partition_no = MOD(sku_id, 16) WHERE ";

  private static final String ENTER =
      "UPDATE products SET decides = 'MYSQL', fallback = 'ENTERING', epoch = epoch + 1,"
          + " state_version = state_version + 1, settled = "
          + OrderTotalTable.DECIDED_ORDERS
          + " WHERE sku_id IN (:skus)";

  /** The caller has locked all at once: only the length of a statement is limited. */
  private static final int CHUNK = 1_000;

  /** By the column that has an index. */
  private static final String RESUME =
      "UPDATE products SET fallback = 'ACTIVE', epoch = epoch + 1,"
          + " state_version = state_version + 1 WHERE fallback IN ('LOADING', 'RETURNING')";

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

  List<InFallback> all() {
    return jdbc.sql(
            "SELECT sku_id, sale_phase AS phase, reserved_units FROM products"
                + " WHERE fallback <> 'NO' ORDER BY sku_id") // this column has the index
        .query(InFallback.class)
        .list();
  }

  /** Sales that Redis decides, or did when the fallback began; the epoch is that of Redis. */
  List<ExpectedSale> ofRedis() {
    return jdbc.sql(EXPECTED + SalePhase.OF_REDIS + " AND " + WANTED)
        .query(ExpectedSale.class)
        .list();
  }

  /** How many of them Redis decides; in a fallback those that were over when it began. */
  long countOfRedis() {
    return jdbc.sql(
            "SELECT COUNT(*) FROM products WHERE " + SalePhase.REDIS_DECIDES + " AND " + WANTED)
        .query(Long.class)
        .single();
  }

  /** The same of all sales in a fallback: one that is over may be extended. */
  List<ExpectedSale> expectedInFallback() {
    return jdbc.sql(EXPECTED + "fallback <> 'NO'").query(ExpectedSale.class).list();
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
    Sql.chunks(skus, CHUNK).forEach(some -> jdbc.sql(ENTER).param("skus", some).update());
    return skus.size();
  }

  /** Lets MySQL sell on those sales whose loading into Redis has not ended. */
  void resume() {
    jdbc.sql(RESUME).update();
  }

  /**
   * Those that MySQL decides with all stock reserved, without any that are over, and without those
   * with unknown orders: they stay so.
   */
  List<Long> allReserved() {
    return jdbc.sql(
            "SELECT p.sku_id FROM products p LEFT JOIN admitted_units a"
                + " ON a.sku_id = p.sku_id AND a.epoch = p.epoch - 1"
                + " WHERE p.fallback = 'ACTIVE' AND reserves_all AND reserved_units > 0"
                + " AND a.unknown_orders IS NOT TRUE AND "
                + WANTED
                + " ORDER BY p.sku_id")
        .query(Long.class)
        .list();
  }

  /**
   * Lets MySQL sell on a sale whose loading has failed, under another epoch: the rest of the
   * loading admits nothing.
   */
  public static void resume(JdbcClient jdbc, long skuId) {
    jdbc.sql(RESUME + " AND sku_id = ?").param(skuId).update();
  }

  /** The same, if the sale is stopped. Returns whether it was. */
  boolean resumeStopped(long skuId) {
    String sql = RESUME + " AND sku_id = ? AND sale_phase = 'RETURNING'";
    return jdbc.sql(sql).param(skuId).update() == 1;
  }

  /**
   * Stops a sale whose loading needs only the changes since it began. Returns false when another
   * loading has begun, or the fallback goes on.
   */
  public static boolean stop(JdbcClient jdbc, long skuId, long epoch) {
    String sql =
        "UPDATE products SET fallback = 'RETURNING', state_version = state_version + 1"
            + " WHERE sku_id = ? AND epoch = ? AND sale_phase = 'LOADING'";
    return jdbc.sql(sql).params(skuId, epoch).update() == 1;
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

  /**
   * Ends the fallback of a sale that Redis would not keep. Returns false, and does nothing, once it
   * has changed, or was extended.
   */
  public static boolean abandon(JdbcClient jdbc, long skuId, long epoch) {
    String sql =
        END
            + " WHERE sku_id = ? AND epoch = ? AND sale_phase IN ('MYSQL', 'LOADING', 'RETURNING')"
            + " AND NOT ("
            + ProductRows.KEPT
            + ")";
    return jdbc.sql(sql).params(skuId, epoch).update() == 1;
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
    String sql = "UPDATE products SET reserved_units = 0 WHERE sku_id = ?";
    sales.forEach(sale -> jdbc.sql(sql).param(sale.skuId()).update());
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
