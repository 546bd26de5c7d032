package io.seckill.consumer.loading;

import io.seckill.consumer.products.ProductSnapshot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * A row of {@code stock_change}.
 *
 * @param delta units, negative for a withdrawal
 * @param counted whether MySQL's stock contains it
 * @param ended whether both stores contain it, or neither
 */
public record StoredChange(long delta, boolean counted, boolean ended) {

  private static final String PAGE_AFTER =
      """
      SELECT change_id, epoch, delta, state = 'DONE' OR state = 'MYSQL_DONE' AS counted,
      state IN ('DONE', 'REFUSED') AS ended
      FROM stock_change WHERE sku_id = ? AND change_id > ? ORDER BY change_id LIMIT ?
      """;

  private record OfEpoch(String id, long epoch, StoredChange change) {}

  /** Those of the sale's epoch, by id. The pages also have those of other epochs. */
  static Map<String, StoredChange> of(JdbcClient jdbc, ProductSnapshot sale) {
    Map<String, StoredChange> changes = new HashMap<>();
    String last = "";
    List<OfEpoch> page;
    do {
      page =
          jdbc.sql(PAGE_AFTER)
              .params(sale.skuId(), last, DatabaseSnapshot.PAGE)
              .query(
                  (row, number) ->
                      new OfEpoch(
                          row.getString(1),
                          row.getLong(2),
                          new StoredChange(row.getLong(3), row.getBoolean(4), row.getBoolean(5))))
              .list();
      for (OfEpoch row : page) {
        last = row.id();
        if (row.epoch() == sale.epoch()) {
          changes.put(row.id(), row.change());
        }
      }
    } while (page.size() == DatabaseSnapshot.PAGE);
    return changes;
  }
}
