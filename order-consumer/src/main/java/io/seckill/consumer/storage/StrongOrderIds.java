package io.seckill.consumer.storage;

import io.seckill.common.order.OrderId;
import io.seckill.consumer.runtime.ConnectionPools;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/**
 * Makes the ids of orders of strong sales. Each process takes blocks of milliseconds from MySQL, so
 * no two use the same. Thread-safe.
 */
@Component
final class StrongOrderIds {

  private static final long BLOCK_MS = 64;
  private static final int SEQUENCES = 1 << OrderId.SEQUENCE_BITS;

  /** The rest of an older block is dropped, so that ids stay near the clock. */
  private static final Duration LONGEST_USE = Duration.ofSeconds(5);

  private final Transactions transactions;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private long nextMs;
  private long endMs;
  private int nextSequence;

  /** Of {@code nanoTime}, until which the block is used. */
  private long untilNanos;

  @Autowired
  StrongOrderIds(ConnectionPools pools, Clock clock) {
    this(pools, clock, System::nanoTime);
  }

  StrongOrderIds(ConnectionPools pools, Clock clock, LongSupplier nanoTime) {
    this.transactions = Transactions.once(pools.strongSales());
    this.clock = clock;
    this.nanoTime = nanoTime;
  }

  /**
   * @throws DataAccessException when MySQL gives no block
   * @throws TransactionException as well
   */
  synchronized List<OrderId> next(int partition, int count) {
    List<OrderId> ids = new ArrayList<>(count);
    while (ids.size() < count) {
      if (nextSequence == SEQUENCES) {
        nextMs++;
        nextSequence = 0;
      }
      if (nextMs >= endMs || nanoTime.getAsLong() - untilNanos >= 0) {
        takeBlock();
      }
      ids.add(OrderId.of(nextMs, partition, OrderId.MYSQL_WORKER, nextSequence++));
    }
    return ids;
  }

  private void takeBlock() {
    endMs =
        transactions
            .run(jdbc -> block(jdbc, clock.millis()))
            .orElseThrow(() -> new IllegalStateException("order_id_block has no row"));
    nextMs = endMs - BLOCK_MS;
    nextSequence = 0;
    untilNanos = nanoTime.getAsLong() + LONGEST_USE.toNanos();
  }

  /**
   * The UPDATE locks the row, so the read sees this transaction's block. What is used up does not
   * come back: a process whose clock is years ahead takes the next hour of MySQL's clock at most.
   */
  private static @Nullable Long block(JdbcOperations jdbc, long nowMs) {
    jdbc.update(
        "UPDATE order_id_block SET next_ms ="
            + " GREATEST(next_ms, LEAST(?, (UNIX_TIMESTAMP() + 3600) * 1000)) + ? WHERE id = 1",
        nowMs,
        BLOCK_MS);
    return jdbc.queryForObject("SELECT next_ms FROM order_id_block WHERE id = 1", Long.class);
  }
}
