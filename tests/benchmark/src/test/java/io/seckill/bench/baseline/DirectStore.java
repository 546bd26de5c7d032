package io.seckill.bench.baseline;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.MadeOrders;
import io.seckill.common.order.OrderMessage;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Writes the consumer's rows through JDBC alone, without broker, results or per-order path: in
 * batches, which is the database's ceiling, and one order per transaction by 8 threads, which is
 * the baseline.
 */
public final class DirectStore {

  public static final int THREADS = 8;
  public static final int BATCH = 500;

  private final Lab lab;

  public DirectStore(Lab lab) {
    this.lab = lab;
  }

  /** Returns orders per second in batches of {@value #BATCH}, one thread. */
  public double batchesPerSecond(List<OrderMessage> orders) throws SQLException {
    try (Connection mysql = lab.mysql();
        Transaction transaction = new Transaction(mysql, BATCH)) {
      long start = System.nanoTime();
      int stored = 0;
      while (stored + BATCH <= orders.size()) {
        transaction.store(orders.subList(stored, stored + BATCH));
        stored += BATCH;
      }
      return stored * 1e9 / (System.nanoTime() - start);
    }
  }

  /**
   * Stores one order per transaction, with {@value #THREADS} threads.
   *
   * @param orders more than can be stored in that time
   */
  public ManyThreads.Result oneByOne(MadeOrders orders, Duration duration) {
    Iterator<OrderMessage> next = orders.stream().iterator();
    return ManyThreads.run(THREADS, duration, thread -> storer(next));
  }

  private ManyThreads.Work storer(Iterator<OrderMessage> orders) throws SQLException {
    Transaction transaction = new Transaction(lab.mysql(), 1);
    return () -> {
      OrderMessage order;
      synchronized (orders) {
        if (!orders.hasNext()) {
          transaction.close();
          return false;
        }
        order = orders.next();
      }
      transaction.store(List.of(order));
      return true;
    };
  }

  /** Orders, quota, stock, commit: prepared for a fixed number of orders of one SKU. */
  private static final class Transaction implements AutoCloseable {

    private final Connection mysql;
    private final PreparedStatement orders;
    private final PreparedStatement quota;
    private final PreparedStatement stock;

    Transaction(Connection mysql, int size) throws SQLException {
      this.mysql = mysql;
      mysql.setAutoCommit(false);
      mysql.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      orders =
          mysql.prepareStatement(
              "INSERT INTO orders (order_id, user_id, sku_id, quantity, unit_price_cents,"
                  + " request_id, status, epoch, seq, admitted_at) VALUES "
                  + times(size, "(?,?,?,1,1999,?,'CONFIRMED',?,?,?)"));
      quota =
          mysql.prepareStatement(
              "INSERT INTO user_quota (user_id, sku_id, owned_count, limit_units) VALUES "
                  + times(size, "(?,?,1,5)")
                  + " ON DUPLICATE KEY UPDATE owned_count = owned_count + VALUES(owned_count)");
      stock =
          mysql.prepareStatement(
              "UPDATE products SET stock = stock - ?, settled = settled + ?,"
                  + " last_seq = GREATEST(last_seq, ?) WHERE sku_id = ? AND stock >= ?");
    }

    void store(List<OrderMessage> batch) throws SQLException {
      int order = 1;
      int owner = 1;
      for (OrderMessage message : batch) {
        orders.setLong(order++, message.orderId().value());
        orders.setLong(order++, message.userId());
        orders.setLong(order++, message.skuId());
        orders.setString(order++, message.requestId());
        orders.setLong(order++, message.epoch());
        orders.setLong(order++, message.seq());
        orders.setTimestamp(order++, new Timestamp(message.admittedAt()));
        quota.setLong(owner++, message.userId());
        quota.setLong(owner++, message.skuId());
      }
      orders.executeUpdate();
      quota.executeUpdate();
      takeStock(batch);
      mysql.commit();
    }

    private void takeStock(List<OrderMessage> batch) throws SQLException {
      OrderMessage last = batch.get(batch.size() - 1);
      stock.setInt(1, batch.size());
      stock.setInt(2, batch.size());
      stock.setLong(3, last.seq());
      stock.setLong(4, last.skuId());
      stock.setInt(5, batch.size());
      if (stock.executeUpdate() != 1) {
        throw new SQLException("no stock for " + batch.size() + " orders");
      }
    }

    private static String times(int size, String row) {
      return IntStream.range(0, size).mapToObj(i -> row).collect(Collectors.joining(","));
    }

    @Override
    public void close() throws SQLException {
      mysql.close();
    }
  }
}
