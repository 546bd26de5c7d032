package io.seckill.consumer.products;

import java.util.Collection;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * The least that Redis must have of a sale, as MySQL has it. Data that lack some of it have units
 * that were sold or taken since, so nothing is taken from them.
 *
 * @param lastSeq number of its last order that MySQL has
 * @param changeSeq number of the last change of its stock that MySQL has from Redis
 * @param server replication id of the Redis server that is known to MySQL: it has every order that
 *     was published before that server took over; empty before the first
 */
public record ExpectedSale(long id, long epoch, long lastSeq, long changeSeq, String server) {

  private static final String SELECT =
      """
      SELECT p.sku_id AS id, p.epoch, p.last_seq, p.change_seq,
        COALESCE(r.replication_id, '') AS server
      FROM products p
      LEFT JOIN redis_server r ON r.partition_no = MOD(p.sku_id, 16)
      WHERE p.sku_id IN (:ids)
      ORDER BY p.sku_id
      """;

  /** In ascending order. */
  public static List<ExpectedSale> find(JdbcClient jdbc, Collection<Long> ids) {
    return jdbc.sql(SELECT).param("ids", ids).query(ExpectedSale.class).list();
  }
}
