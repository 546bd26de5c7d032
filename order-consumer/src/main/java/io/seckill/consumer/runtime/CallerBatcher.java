package io.seckill.consumer.runtime;

import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/**
 * Executes concurrent requests in batches, on the threads of their callers. A request is executed
 * at once when no batch is in progress. Requests that arrive meanwhile form the next batch, which
 * the thread of the first of them executes: an idle system adds no wait, a busy one makes large
 * batches. A request waits for at most one batch before its own.
 *
 * @param <T> type of request; equal requests of a batch are executed once
 */
public final class CallerBatcher<T, R> {

  private static final Logger log = LoggerFactory.getLogger(CallerBatcher.class);

  /** Executes one batch; may block. */
  @FunctionalInterface
  public interface Executor<T, R> {

    /**
     * @param requests one or more, oldest first
     * @return the answers. A request of several that has none, or whose batch failed although MySQL
     *     is available, is executed again, alone
     */
    Map<T, R> execute(Set<T> requests);
  }

  private final int capacity;
  private final Executor<T, R> executor;

  /** The next batch; guarded by this. */
  private List<Pending<T, R>> waiting = new ArrayList<>();

  /** Whether a batch is in progress; guarded by this. */
  private boolean executing;

  /** A request; its outcome is set before its turn is completed. */
  private static final class Pending<T, R> {
    final T request;

    /** Whether its thread executes the next batch; else the batch is over. */
    final CompletableFuture<Boolean> executesNext = new CompletableFuture<>();

    @Nullable R answer;
    @Nullable RuntimeException failure;

    Pending(T request) {
      this.request = request;
    }
  }

  /** {@code capacity} bounds the requests that wait, and so a batch; beyond it they are refused. */
  public CallerBatcher(int capacity, Executor<T, R> executor) {
    this.capacity = capacity;
    this.executor = executor;
  }

  /**
   * @throws ProblemException 503 BUSY when too many requests wait: nothing was done
   * @throws RuntimeException of the executor
   */
  public R submit(T request) {
    Pending<T, R> mine = enqueue(request);
    if (mine.executesNext.join()) {
      executeNext();
    }
    if (mine.failure != null) {
      throw mine.failure;
    }
    return mine.answer != null ? mine.answer : executeAlone(request);
  }

  /** Requests waiting for the batch in progress to end. */
  public synchronized int depth() {
    return waiting.size();
  }

  private synchronized Pending<T, R> enqueue(T request) {
    if (waiting.size() >= capacity) {
      throw ProblemException.of(ProblemCode.BUSY, "Send the same request again.");
    }
    Pending<T, R> pending = new Pending<>(request);
    waiting.add(pending);
    if (!executing) {
      executing = true;
      pending.executesNext.complete(true);
    }
    return pending;
  }

  private void executeNext() {
    List<Pending<T, R>> batch = take();
    try {
      Set<T> requests = new LinkedHashSet<>();
      batch.forEach(pending -> requests.add(pending.request));
      Map<T, R> answers = executor.execute(requests);
      batch.forEach(pending -> pending.answer = answers.get(pending.request));
    } catch (RuntimeException e) {
      if (batch.size() == 1 || isUnavailable(e)) {
        batch.forEach(pending -> pending.failure = e);
      } else {
        log.warn("A batch of {} is executed one by one: {}", batch.size(), e.toString());
      }
    } finally {
      passOn();
      batch.forEach(pending -> pending.executesNext.complete(false));
    }
  }

  private synchronized List<Pending<T, R>> take() {
    List<Pending<T, R>> batch = waiting;
    waiting = new ArrayList<>();
    return batch;
  }

  private synchronized void passOn() {
    executing = !waiting.isEmpty();
    if (executing) {
      waiting.get(0).executesNext.complete(true);
    }
  }

  private R executeAlone(T request) {
    R answer = executor.execute(Set.of(request)).get(request);
    if (answer == null) {
      throw new IllegalStateException("no answer to " + request);
    }
    return answer;
  }

  /** Whether MySQL failed, and not one of the requests. */
  private static boolean isUnavailable(RuntimeException e) {
    return (e instanceof DataAccessException || e instanceof TransactionException)
        && SqlFailure.of(e) == SqlFailure.UNAVAILABLE;
  }
}
