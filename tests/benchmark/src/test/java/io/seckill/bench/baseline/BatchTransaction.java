package io.seckill.bench.baseline;

import io.seckill.bench.lab.BenchSale;
import io.seckill.common.order.OrderMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Several purchases of one SKU in one transaction: reads stock, requests and quotas without locks,
 * decides in the order given, and writes what it admits with the guards. A guard that refuses is a
 * conflict: all of it is decided again. One connection, one thread.
 */
final class BatchTransaction {

  private final Connection mysql;

  /** By the number of orders. */
  private final Map<Integer, OrderRows> rows = new HashMap<>();

  BatchTransaction(Connection mysql) throws SQLException {
    this.mysql = mysql;
    rows.put(1, new OrderRows(mysql, 1)); // also prepares the connection
  }

  /** Returns a verdict for each purchase. */
  List<Verdict> sell(List<OrderMessage> purchases) throws SQLException {
    return Conflicts.repeat(mysql, () -> once(purchases))
        .orElseGet(() -> Collections.nCopies(purchases.size(), Verdict.BUSY));
  }

  private Optional<List<Verdict>> once(List<OrderMessage> purchases) throws SQLException {
    try {
      List<OrderMessage> admitted = new ArrayList<>();
      List<Verdict> verdicts = decide(purchases, admitted);
      if (!admitted.isEmpty() && !write(admitted)) {
        return Optional.empty();
      }
      mysql.commit();
      return Optional.of(verdicts);
    } catch (SQLException e) {
      if (Conflicts.isDuplicate(e) || Conflicts.isCheckViolation(e) || Conflicts.isVictim(e)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private boolean write(List<OrderMessage> admitted) throws SQLException {
    OrderRows statements = rows.get(admitted.size());
    if (statements == null) {
      statements = new OrderRows(mysql, admitted.size());
      rows.put(admitted.size(), statements);
    }
    statements.insert(admitted);
    return statements.takeStock(admitted);
  }

  private List<Verdict> decide(List<OrderMessage> purchases, List<OrderMessage> admitted)
      throws SQLException {
    long stock = stock(purchases.get(0).skuId());
    Set<String> known = requests(purchases);
    Map<Long, Integer> owned = quotas(purchases);
    List<Verdict> verdicts = new ArrayList<>();
    for (OrderMessage purchase : purchases) {
      String request = request(purchase.userId(), purchase.requestId());
      if (known.contains(request)) {
        verdicts.add(Verdict.REPEATED);
      } else if (admitted.size() >= stock) {
        verdicts.add(Verdict.SOLD_OUT);
      } else if (owned.getOrDefault(purchase.userId(), 0) >= BenchSale.UNITS_PER_USER) {
        verdicts.add(Verdict.QUOTA_EXCEEDED);
      } else {
        known.add(request);
        owned.merge(purchase.userId(), 1, Integer::sum);
        admitted.add(purchase);
        verdicts.add(Verdict.ACCEPTED);
      }
    }
    return verdicts;
  }

  private long stock(long skuId) throws SQLException {
    try (PreparedStatement select =
        mysql.prepareStatement("SELECT stock FROM products WHERE sku_id = ?")) {
      select.setLong(1, skuId);
      try (ResultSet row = select.executeQuery()) {
        row.next();
        return row.getLong(1);
      }
    }
  }

  private Set<String> requests(List<OrderMessage> purchases) throws SQLException {
    String sql =
        "SELECT user_id, request_id FROM orders WHERE (user_id, sku_id, request_id) IN ("
            + OrderRows.times(purchases.size(), "(?,?,?)")
            + ")";
    Set<String> known = new HashSet<>();
    try (PreparedStatement select = mysql.prepareStatement(sql)) {
      int at = 1;
      for (OrderMessage purchase : purchases) {
        select.setLong(at++, purchase.userId());
        select.setLong(at++, purchase.skuId());
        select.setString(at++, purchase.requestId());
      }
      try (ResultSet found = select.executeQuery()) {
        while (found.next()) {
          known.add(request(found.getLong(1), found.getString(2)));
        }
      }
    }
    return known;
  }

  private Map<Long, Integer> quotas(List<OrderMessage> purchases) throws SQLException {
    String sql =
        "SELECT user_id, owned_count FROM user_quota WHERE (user_id, sku_id) IN ("
            + OrderRows.times(purchases.size(), "(?,?)")
            + ")";
    Map<Long, Integer> owned = new HashMap<>();
    try (PreparedStatement select = mysql.prepareStatement(sql)) {
      int at = 1;
      for (OrderMessage purchase : purchases) {
        select.setLong(at++, purchase.userId());
        select.setLong(at++, purchase.skuId());
      }
      try (ResultSet found = select.executeQuery()) {
        while (found.next()) {
          owned.put(found.getLong(1), found.getInt(2));
        }
      }
    }
    return owned;
  }

  private static String request(long userId, String key) {
    return userId + ":" + key;
  }
}
