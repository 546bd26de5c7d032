package io.seckill.bench.baseline;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.MadeOrders;
import io.seckill.common.order.OrderMessage;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;

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
    try (Connection mysql = lab.mysql()) {
      OrderRows rows = new OrderRows(mysql, BATCH);
      long start = System.nanoTime();
      int stored = 0;
      while (stored + BATCH <= orders.size()) {
        store(mysql, rows, orders.subList(stored, stored + BATCH));
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
    Connection mysql = lab.mysql();
    OrderRows rows = new OrderRows(mysql, 1);
    return new ManyThreads.Work() {
      @Override
      public boolean once() throws SQLException {
        OrderMessage order;
        synchronized (orders) {
          if (!orders.hasNext()) {
            return false;
          }
          order = orders.next();
        }
        store(mysql, rows, List.of(order));
        return true;
      }

      @Override
      public void close() throws SQLException {
        mysql.close();
      }
    };
  }

  private static void store(Connection mysql, OrderRows rows, List<OrderMessage> batch)
      throws SQLException {
    rows.insert(batch);
    if (!rows.takeStock(batch)) {
      throw new SQLException("no stock for " + batch.size() + " orders");
    }
    mysql.commit();
  }
}
