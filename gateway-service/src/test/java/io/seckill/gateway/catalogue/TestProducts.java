package io.seckill.gateway.catalogue;

import static io.seckill.testing.Eventually.eventually;

import java.lang.reflect.Proxy;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.Map;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.PreparedStatementCreator;
import org.springframework.jdbc.core.RowCallbackHandler;
import org.springframework.jdbc.core.simple.JdbcClient;

/** The products of a gateway with one open sale of Redis; without a server. */
public final class TestProducts {

  private static final Map<String, Object> SALE =
      Map.of(
          "sku_id",
          1_001L,
          "name",
          "thing",
          "policy",
          "UNLIMITED",
          "opens_at",
          LocalDate.EPOCH.atStartOfDay(),
          "closes_at",
          LocalDate.of(9999, 1, 1).atStartOfDay(),
          "state",
          "OPEN",
          "is_retained",
          true,
          "in_fallback",
          false,
          "sale_phase",
          "REDIS");

  /** As {@link NextReading#MOST_WAITING}. */
  public static final int MOST_WAITING = NextReading.MOST_WAITING;

  private TestProducts() {}

  /** As read once; {@code inFallback}: MySQL decides the sale. */
  public static ProductCache read(boolean inFallback) {
    return readOnce(unread(inFallback));
  }

  /** As read once, before the first preheat of the sale, which is to have four shards. */
  public static ProductCache beforeThePreheatOfShards() {
    return readOnce(with(Map.of("state", "NEW", "shards", 4)));
  }

  /** As read once; closed two hours ago. */
  public static ProductCache afterASaleInShards() {
    LocalDateTime closed = LocalDateTime.now(ZoneOffset.UTC).minusHours(2);
    return readOnce(with(Map.of("state", "CLOSED", "shards", 4, "closes_at", closed)));
  }

  /** Not started yet. */
  static ProductCache unread(boolean inFallback) {
    return with(Map.of("in_fallback", inFallback, "sale_phase", inFallback ? "MYSQL" : "REDIS"));
  }

  private static ProductCache readOnce(ProductCache products) {
    products.start();
    eventually().until(() -> products.lastRead().isPresent());
    products.stop();
    return products;
  }

  private static ProductCache with(Map<String, Object> columns) {
    JdbcTemplate mysql =
        new JdbcTemplate() {
          @Override
          public void query(PreparedStatementCreator statement, RowCallbackHandler rows) {
            try {
              rows.processRow(row(columns));
            } catch (SQLException e) {
              throw new AssertionError(e);
            }
          }
        };
    return new ProductCache(JdbcClient.create(mysql));
  }

  /** Numbers that are not given are 1. */
  private static ResultSet row(Map<String, Object> columns) {
    Map<Object, Object> row = new HashMap<>(SALE);
    row.putAll(columns);
    return (ResultSet)
        Proxy.newProxyInstance(
            ResultSet.class.getClassLoader(),
            new Class<?>[] {ResultSet.class},
            (proxy, method, args) ->
                switch (method.getName()) {
                  case "getLong" -> row.getOrDefault(args[0], 1L);
                  case "getInt" -> row.getOrDefault(args[0], 1);
                  default -> row.get(args[0]);
                });
  }
}
