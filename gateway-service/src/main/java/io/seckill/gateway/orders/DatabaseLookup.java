package io.seckill.gateway.orders;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.gateway.backends.BlockingCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;

/**
 * Looks up orders in MySQL for polling clients: the same order at most once a second, whatever the
 * result, and many orders with one statement. Never blocks; the waiting requests and the cached
 * results are bounded in number.
 */
@Component
final class DatabaseLookup {

  private static final int MAX_BATCH = 200;
  private static final int MAX_WAITING = 10_000;

  /** As many as {@code lookUpCalls} has threads, so that it never refuses one. */
  private static final int MAX_STATEMENTS = 3;

  private static final long REMEMBERED = 50_000;

  private final StoredOrders mysql;
  private final BlockingCalls calls;
  private final Counter asked;
  private final BlockingQueue<Wait> waiting = new ArrayBlockingQueue<>(MAX_WAITING);
  private final Semaphore statements = new Semaphore(MAX_STATEMENTS);
  private final Cache<OrderId, CompletableFuture<Answer>> recent =
      Caffeine.newBuilder().expireAfterWrite(Duration.ofSeconds(1)).maximumSize(REMEMBERED).build();

  DatabaseLookup(
      StoredOrders mysql, @Qualifier("lookUpCalls") BlockingCalls calls, MeterRegistry meters) {
    this.mysql = mysql;
    this.calls = calls;
    this.asked =
        Counter.builder("seckill.order.lookups")
            .description("Orders looked up in MySQL because Redis could not answer for them")
            .register(meters);
  }

  /**
   * The result of a lookup in MySQL.
   *
   * @param order empty when MySQL does not have the order, or did not answer
   * @param known false when MySQL did not answer
   */
  record Answer(Optional<StoredOrder> order, boolean known) {

    static final Answer UNKNOWN = new Answer(Optional.empty(), false);
  }

  private record Wait(OrderId id, CompletableFuture<Answer> answer) {}

  /** Returns MySQL's result for the order, up to a second old. The future never fails. */
  CompletableFuture<Answer> find(OrderId id) {
    CompletableFuture<Answer> mine = new CompletableFuture<>();
    CompletableFuture<Answer> shared = recent.get(id, ignored -> mine);
    if (shared == mine) {
      submit(new Wait(id, mine));
    }
    return shared;
  }

  /** Drops the cached result of an order that has just been changed through this gateway. */
  void forget(OrderId id) {
    recent.invalidate(id);
  }

  private void submit(Wait wait) {
    asked.increment();
    if (waiting.offer(wait)) {
      readMore();
    } else {
      wait.answer.complete(Answer.UNKNOWN);
    }
  }

  /**
   * Starts statements while permits are free. Without a permit, the waiting requests are left to
   * the running statements: each checks the queue again when it ends.
   */
  private void readMore() {
    while (!waiting.isEmpty() && statements.tryAcquire()) {
      List<Wait> batch = new ArrayList<>();
      waiting.drainTo(batch, MAX_BATCH);
      if (batch.isEmpty()) {
        statements.release();
      } else {
        calls
            .call(() -> mysql.find(batch.stream().map(Wait::id).toList()))
            .subscribe(found -> answer(batch, found), failure -> fail(batch));
      }
    }
  }

  private void answer(List<Wait> batch, Map<OrderId, StoredOrder> found) {
    statements.release();
    for (Wait wait : batch) {
      wait.answer.complete(new Answer(Optional.ofNullable(found.get(wait.id)), true));
    }
    readMore();
  }

  private void fail(List<Wait> batch) {
    statements.release();
    batch.forEach(wait -> wait.answer.complete(Answer.UNKNOWN));
    readMore();
  }
}
