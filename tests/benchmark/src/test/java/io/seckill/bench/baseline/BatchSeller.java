package io.seckill.bench.baseline;

import io.seckill.bench.lab.Lab;
import io.seckill.common.order.OrderMessage;
import io.seckill.testing.Bounded;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Purchases of one SKU in batches, stored as order-consumer stores those of a strong sale. Used by
 * all shoppers; one thread writes what waits, as a gateway sends the batches of a SKU one after the
 * other.
 */
public final class BatchSeller implements Seller {

  /** As many as the gateway puts into one call. */
  private static final int MOST = 64;

  private final BlockingQueue<Waiter> waiting = new LinkedBlockingQueue<>();
  private final Thread writer;

  /** A shopper who waits for a verdict. */
  private record Waiter(OrderMessage purchase, CompletableFuture<Verdict> verdict) {}

  public BatchSeller(Lab lab) throws SQLException {
    Connection mysql = lab.mysql();
    writer = new Thread(() -> write(mysql), "batch-writer");
    writer.setDaemon(true);
    writer.start();
  }

  @Override
  public Verdict sell(OrderMessage purchase) {
    Waiter waiter = new Waiter(purchase, new CompletableFuture<>());
    waiting.add(waiter);
    return Bounded.get(waiter.verdict);
  }

  private void write(Connection connection) {
    List<Waiter> batch = new ArrayList<>();
    try (Connection mysql = connection) {
      BatchTransaction transaction = new BatchTransaction(mysql);
      while (true) {
        batch.clear();
        batch.add(waiting.take());
        waiting.drainTo(batch, MOST - 1);
        List<Verdict> verdicts = transaction.sell(batch.stream().map(Waiter::purchase).toList());
        for (int i = 0; i < batch.size(); i++) {
          batch.get(i).verdict.complete(verdicts.get(i));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    } catch (SQLException e) {
      batch.forEach(waiter -> waiter.verdict.completeExceptionally(e));
    }
  }

  /** No shopper may wait any more. */
  @Override
  public void close() {
    writer.interrupt();
    Bounded.join(writer);
  }
}
