package io.seckill.consumer.runtime;

import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.ArrayList;
import java.util.Collection;
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

  /** Requests of those who wait; guarded by this. */
  private int depth;

  /** Whether a batch is in progress; guarded by this. */
  private boolean executing;

  /** Requests of a caller; their outcome is set before its turn is completed. */
  private static final class Pending<T, R> {
    final Collection<T> requests;

    /** Whether its thread executes the next batch; else the batch is over. */
    final CompletableFuture<Boolean> executesNext = new CompletableFuture<>();

    Map<T, R> answers = Map.of();
    @Nullable RuntimeException failure;

    Pending(Collection<T> requests) {
      this.requests = requests;
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
    R answer = submitAll(List.of(request)).get(request);
    return answer != null ? answer : executeAlone(request);
  }

  /**
   * Executes these requests in the same batch.
   *
   * @return the answers; a request that has none was not executed, and may be submitted alone
   * @throws ProblemException 503 BUSY when too many requests wait: nothing was done
   * @throws RuntimeException of the executor
   */
  public Map<T, R> submitAll(Collection<T> requests) {
    Pending<T, R> mine = enqueue(requests);
    if (mine.executesNext.join()) {
      executeNext();
    }
    if (mine.failure != null) {
      throw mine.failure;
    }
    return mine.answers;
  }

  /** Requests waiting for the batch in progress to end. */
  public synchronized int depth() {
    return depth;
  }

  private synchronized Pending<T, R> enqueue(Collection<T> requests) {
    if (depth > capacity - requests.size()) {
      throw ProblemException.of(ProblemCode.BUSY, "Send the same request again.");
    }
    Pending<T, R> pending = new Pending<>(requests);
    waiting.add(pending);
    depth += requests.size();
    if (!executing) {
      executing = true;
      pending.executesNext.complete(true);
    }
    return pending;
  }

  private void executeNext() {
    List<Pending<T, R>> batch = take();
    Set<T> requests = new LinkedHashSet<>();
    batch.forEach(pending -> requests.addAll(pending.requests));
    try {
      Map<T, R> answers = executor.execute(requests);
      batch.forEach(pending -> pending.answers = answers);
    } catch (RuntimeException e) {
      if (requests.size() == 1 || isUnavailable(e)) {
        batch.forEach(pending -> pending.failure = e);
      } else {
        log.warn("A batch of {} is executed one by one: {}", requests.size(), e.toString());
      }
    } finally {
      passOn();
      batch.forEach(pending -> pending.executesNext.complete(false));
    }
  }

  private synchronized List<Pending<T, R>> take() {
    List<Pending<T, R>> batch = waiting;
    waiting = new ArrayList<>();
    depth = 0;
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
