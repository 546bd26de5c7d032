package io.seckill.consumer.fallback;

import io.seckill.common.sale.FallbackMode;
import io.seckill.consumer.fallback.FallbackTable.Row;
import io.seckill.consumer.runtime.UtcColumn;
import io.seckill.support.contract.Heartbeat;
import io.seckill.support.contract.Heartbeat.BreakerState;
import io.seckill.support.contract.Heartbeat.RedisView;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The table {@code gateway_node}. */
@Component
class GatewayTable {

  private static final String COLUMNS =
      "g.name, g.mode, g.term AS node_term, g.handed_over, g.complete, g.redis_usable, g.for_ms,"
          + " g.breaker, g.failure_percent AS node_percent, g.failures_per_second AS node_failures,"
          + " GREATEST(0, TIMESTAMPDIFF(MICROSECOND, g.heard_at, NOW(6)) DIV 1000) AS heard_ms_ago";

  private static final String HEARD =
      """
      INSERT INTO gateway_node (token, name, mode, term, redis_usable, for_ms, breaker,
      failure_percent, failures_per_second, heard_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, NOW(6))
      ON DUPLICATE KEY UPDATE name = VALUES(name), mode = VALUES(mode),
      term = GREATEST(term, VALUES(term)), redis_usable = VALUES(redis_usable),
      for_ms = VALUES(for_ms), breaker = VALUES(breaker),
      failure_percent = VALUES(failure_percent),
      failures_per_second = VALUES(failures_per_second), heard_at = NOW(6)
      """;

  private final JdbcClient jdbc;

  GatewayTable(FallbackDatabase mysql) {
    this.jdbc = mysql.jdbc();
  }

  /** The state of the fallback and all gateways, read at one moment. */
  record Overview(Row fallback, Gateways gateways) {}

  Overview overview() {
    List<Row> fallback = new ArrayList<>();
    List<GatewayNode> nodes = new ArrayList<>();
    jdbc.sql(
            "SELECT "
                + FallbackTable.COLUMNS
                + ", "
                + COLUMNS
                + " FROM fallback f LEFT JOIN gateway_node g ON TRUE WHERE f.id = 1"
                + " ORDER BY g.name, g.token")
        .query(
            row -> {
              fallback.add(Row.of(row));
              if (row.getString("name") != null) {
                nodes.add(node(row));
              }
            });
    return new Overview(fallback.get(0), new Gateways(List.copyOf(nodes)));
  }

  private static GatewayNode node(ResultSet row) throws SQLException {
    return new GatewayNode(
        row.getString("name"),
        FallbackMode.parse(row.getString("mode")),
        row.getLong("node_term"),
        row.getLong("handed_over"),
        row.getBoolean("complete"),
        row.getBoolean("redis_usable") ? RedisView.USABLE : RedisView.UNUSABLE,
        row.getLong("for_ms"),
        BreakerState.valueOf(row.getString("breaker")),
        row.getInt("node_percent"),
        row.getInt("node_failures"),
        row.getLong("heard_ms_ago"));
  }

  /** Registers a gateway, or updates its report; its transferred promises stay. */
  void heard(String token, Heartbeat heartbeat) {
    jdbc.sql(HEARD)
        .params(
            token,
            heartbeat.name(),
            heartbeat.fallback().text(),
            heartbeat.term(),
            heartbeat.redis() == RedisView.USABLE,
            heartbeat.forMs(),
            heartbeat.breaker().name(),
            heartbeat.failurePercent(),
            heartbeat.failuresPerSecond())
        .update();
  }

  /** The last term for which a gateway has transferred everything, 0 for none. */
  long transferred(String token) {
    return jdbc.sql("SELECT handed_over FROM gateway_node WHERE token = ?")
        .param(token)
        .query(Long.class)
        .optional()
        .orElse(0L);
  }

  /**
   * Notes that a gateway has transferred everything that it promised before this term. A gateway
   * that is not registered any more has nothing noted.
   *
   * @param complete whether it had forgotten no orders but of the sales that it named
   */
  void transferred(String token, long term, boolean complete) {
    jdbc.sql(
            "UPDATE gateway_node SET complete = IF(handed_over = :term, complete AND :complete,"
                + " :complete), handed_over = :term WHERE token = :token AND handed_over <= :term")
        .param("term", term)
        .param("complete", complete)
        .param("token", token)
        .update();
  }

  void forget(String token) {
    jdbc.sql("DELETE FROM gateway_node WHERE token = ?").param(token).update();
  }

  /** MySQL's clock. */
  Instant now() {
    return UtcColumn.now(jdbc);
  }

  /**
   * Dates heartbeats to now that came before MySQL's clock was set back: a gateway that lives sends
   * the next one at once.
   */
  void boundTimes() {
    jdbc.sql(
            "UPDATE gateway_node SET heard_at = NOW(6) WHERE heard_at > NOW(6) + INTERVAL 1 MINUTE")
        .update();
  }

  /** Whether a gateway has sent no heartbeat for so long, before this time of MySQL. */
  boolean isOneSilent(Duration silence, Instant before) {
    return jdbc.sql(
                "SELECT COUNT(*) FROM gateway_node"
                    + " WHERE heard_at < CAST(? AS DATETIME(6)) - INTERVAL ? SECOND")
            .params(UtcColumn.text(before), silence.toSeconds())
            .query(Long.class)
            .single()
        > 0;
  }

  /** Removes gateways that have sent no heartbeat for so long before this time of MySQL. */
  void forget(Duration silence, Instant before) {
    jdbc.sql(
            "DELETE FROM gateway_node"
                + " WHERE heard_at < CAST(? AS DATETIME(6)) - INTERVAL ? SECOND")
        .params(UtcColumn.text(before), silence.toSeconds())
        .update();
  }
}
