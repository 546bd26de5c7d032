package io.seckill.gateway.catalogue;

import static io.seckill.testing.Eventually.eventually;

import java.lang.reflect.Proxy;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.LocalDate;
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
          true);

  private TestProducts() {}

  /** As read once; {@code inFallback}: MySQL decides the sale. */
  public static ProductCache read(boolean inFallback) {
    ProductCache products = unread(inFallback);
    products.start();
    eventually().until(() -> products.lastRead().isPresent());
    products.stop();
    return products;
  }

  /** Not started yet. */
  static ProductCache unread(boolean inFallback) {
    JdbcTemplate mysql =
        new JdbcTemplate() {
          @Override
          public void query(PreparedStatementCreator statement, RowCallbackHandler rows) {
            try {
              rows.processRow(row(inFallback));
            } catch (SQLException e) {
              throw new AssertionError(e);
            }
          }
        };
    return new ProductCache(JdbcClient.create(mysql));
  }

  private static ResultSet row(boolean inFallback) {
    return (ResultSet)
        Proxy.newProxyInstance(
            ResultSet.class.getClassLoader(),
            new Class<?>[] {ResultSet.class},
            (proxy, method, args) ->
                switch (String.valueOf(args[0])) {
                  case "in_fallback" -> inFallback;
                  case "sale_phase" -> inFallback ? "MYSQL" : "REDIS";
                  default ->
                      switch (method.getName()) {
                        case "getLong" -> SALE.getOrDefault(args[0], 1L);
                        case "getInt" -> 1;
                        default -> SALE.get(args[0]);
                      };
                });
  }
}
