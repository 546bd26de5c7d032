package io.seckill.bench.baseline;

import io.seckill.bench.lab.Lab;
import io.seckill.testing.Bounded;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * Charges in batches, by four writers: the user decides which, so no two wait for the same wallet.
 * Used by all clients.
 */
public final class BatchDeductor implements Deductor {

  private static final int WRITERS = 4;
  private static final int MOST = 512;

  private final List<Writer> writers = new ArrayList<>();

  /** A client that waits. */
  private record Waiter(Deduction deduction, CompletableFuture<Boolean> stored) {}

  public BatchDeductor(Lab lab) throws SQLException {
    for (int i = 0; i < WRITERS; i++) {
      writers.add(new Writer(lab.mysql()));
    }
  }

  @Override
  public boolean deduct(Deduction deduction) {
    Waiter waiter = new Waiter(deduction, new CompletableFuture<>());
    writers.get((int) (deduction.userId() % WRITERS)).waiting.add(waiter);
    return Bounded.get(waiter.stored);
  }

  /** One thread with a connection. */
  private static final class Writer {

    private final BlockingQueue<Waiter> waiting = new LinkedBlockingQueue<>();
    private final Thread thread;

    Writer(Connection mysql) {
      this.thread = new Thread(() -> write(mysql), "deduction-writer");
      thread.setDaemon(true);
      thread.start();
    }

    private void write(Connection connection) {
      List<Waiter> batch = new ArrayList<>();
      try (Connection mysql = connection) {
        DeductionBatch rows = new DeductionBatch(mysql);
        while (true) {
          batch.clear();
          batch.add(waiting.take());
          waiting.drainTo(batch, MOST - 1);
          List<Boolean> stored = rows.store(batch.stream().map(Waiter::deduction).toList());
          for (int i = 0; i < batch.size(); i++) {
            batch.get(i).stored.complete(stored.get(i));
          }
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt(); // closed
      } catch (SQLException e) {
        batch.forEach(waiter -> waiter.stored.completeExceptionally(e));
      }
    }
  }

  /** No client may wait any more. */
  @Override
  public void close() {
    writers.forEach(writer -> writer.thread.interrupt());
    writers.forEach(writer -> Bounded.join(writer.thread));
  }
}
