package io.seckill.bench.baseline;

import io.seckill.bench.lab.BenchSale;
import io.seckill.common.order.OrderMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** One purchase per transaction through JDBC: order, quota, stock, commit. */
public final class RowSeller implements Seller {

  /** What guards the stock. */
  public enum Guard {
    /** {@code SELECT … FOR UPDATE} at the begin. */
    LOCK,
    /** A version that is read at the begin, and that every purchase raises: {@code last_seq}. */
    VERSION,
    /** {@code stock >= n} in the update. */
    STOCK
  }

  private static final String READ = "SELECT stock, last_seq FROM products WHERE sku_id = ?";

  /** What the transaction has read of the product. */
  private record StockAndVersion(long stock, long version) {}

  private final Connection mysql;
  private final BenchSale sale;
  private final Guard guard;
  private final OrderRows rows;
  private final PreparedStatement read;
  private final PreparedStatement takeIfUnchanged;

  /** Closes the connection with itself. */
  public RowSeller(Connection mysql, BenchSale sale, Guard guard) throws SQLException {
    this.mysql = mysql;
    this.sale = sale;
    this.guard = guard;
    this.rows = new OrderRows(mysql, 1);
    this.read = mysql.prepareStatement(guard == Guard.LOCK ? READ + " FOR UPDATE" : READ);
    this.takeIfUnchanged =
        mysql.prepareStatement(
            "UPDATE products SET stock = stock - 1, settled = settled + 1, last_seq = last_seq + 1"
                + " WHERE sku_id = ? AND last_seq = ?");
  }

  @Override
  public Verdict sell(OrderMessage purchase) throws SQLException {
    return Conflicts.repeat(mysql, () -> once(purchase)).orElse(Verdict.BUSY);
  }

  private Optional<Verdict> once(OrderMessage purchase) throws SQLException {
    try {
      Optional<Verdict> verdict = write(List.of(purchase));
      if (verdict.isPresent() && verdict.get() == Verdict.ACCEPTED) {
        mysql.commit();
      } else {
        mysql.rollback();
      }
      return verdict;
    } catch (SQLException e) {
      mysql.rollback();
      return refusal(e);
    }
  }

  /** The order first: a repeat must be found even when the sale is sold out. */
  private Optional<Verdict> write(List<OrderMessage> purchase) throws SQLException {
    if (guard == Guard.STOCK) {
      rows.insert(purchase);
      return Optional.of(rows.takeStock(purchase) ? Verdict.ACCEPTED : Verdict.SOLD_OUT);
    }
    StockAndVersion seen = read();
    rows.insert(purchase);
    if (seen.stock < 1) {
      return Optional.of(Verdict.SOLD_OUT);
    }
    boolean taken = guard == Guard.LOCK ? rows.takeStock(purchase) : takeIfUnchanged(seen);
    return taken ? Optional.of(Verdict.ACCEPTED) : Optional.empty();
  }

  private StockAndVersion read() throws SQLException {
    read.setLong(1, sale.skuId());
    try (ResultSet row = read.executeQuery()) {
      row.next();
      return new StockAndVersion(row.getLong(1), row.getLong(2));
    }
  }

  private boolean takeIfUnchanged(StockAndVersion seen) throws SQLException {
    takeIfUnchanged.setLong(1, sale.skuId());
    takeIfUnchanged.setLong(2, seen.version);
    return takeIfUnchanged.executeUpdate() == 1;
  }

  private static Optional<Verdict> refusal(SQLException e) throws SQLException {
    if (Conflicts.isDuplicate(e)) {
      return Optional.of(Verdict.REPEATED);
    } else if (Conflicts.isCheckViolation(e)) {
      return Optional.of(Verdict.QUOTA_EXCEEDED);
    } else if (Conflicts.isVictim(e)) {
      return Optional.empty();
    }
    throw e;
  }

  @Override
  public void close() throws SQLException {
    mysql.close();
  }
}
