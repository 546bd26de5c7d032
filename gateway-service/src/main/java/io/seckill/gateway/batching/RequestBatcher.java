package io.seckill.gateway.batching;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.Partition;
import io.seckill.support.thread.DaemonThreads;
import io.seckill.support.thread.RepeatingTask;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Sends concurrent requests to Redis, MySQL or order-consumer in batches. A batch is sent as soon
 * as a thread is free, so an idle system adds no wait and a busy one makes large batches. Each
 * partition has its own bounded queue, and a batch takes from them in turn, so that one busy sale
 * does not delay the others. Every request is answered in time, even when all threads are blocked
 * by an unresponsive server: a timeout monitor answers instead. Where partitions are on different
 * servers, a batch has requests of one partition only, and all partitions whose last call did not
 * reach its server share one thread; the other threads serve the rest.
 *
 * @param <T> type of request
 */
public final class RequestBatcher<T extends PendingRequest> implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(RequestBatcher.class);
  private static final Duration WATCH_PERIOD = Duration.ofMillis(10);
  private static final long STOP_WAIT_MS = 2_000;

  /** Executes one batch; called by one of the batcher's threads, may block. */
  @FunctionalInterface
  public interface Executor<T> {

    /**
     * Answers every request; requests left unanswered, also because of an exception, fail as
     * UNKNOWN. Exceptions of Redis and of the breaker are passed on.
     *
     * @param requests 1..maxBatch, those of a partition oldest first; of one partition only where
     *     partitions are apart
     */
    void execute(List<T> requests);
  }

  private final RequestBatcherProperties settings;
  private final boolean apart;
  private final Executor<T> executor;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition workToDo = lock.newCondition();
  private final Condition requestsToWatch = lock.newCondition();
  private final List<Queue<T>> queues;
  private final ArrayDeque<Queue<T>> ready = new ArrayDeque<>(Partition.COUNT);
  private final ArrayDeque<Queue<T>> failingReady = new ArrayDeque<>(Partition.COUNT);

  /** The thread that is in a call for a failing partition, or -1. */
  private int trying = -1;

  /**
   * Whether the last call that began was for a failing partition. Ready partitions then come first,
   * so that a single thread serves both.
   */
  private boolean triedLast;

  private boolean stopping;

  /** Whether the timeout monitor waits for a request. */
  private boolean unwatched;

  private final AtomicReferenceArray<@Nullable List<T>> underway;
  private final List<Thread> threads = new ArrayList<>();
  private final RepeatingTask timeoutMonitor;

  /** The requests of a partition; guarded by the lock. */
  private static final class Queue<T> {
    final int partition;
    final ArrayDeque<T> waiting = new ArrayDeque<>();

    /** Batches in progress. */
    int executing;

    /** Whether it is in {@code ready} or {@code failingReady}. */
    boolean announced;

    /** Whether the last call did not reach its server. */
    boolean failing;

    Queue(int partition) {
      this.partition = partition;
    }
  }

  /**
   * Starts the threads.
   *
   * @param name names the threads
   * @param apart whether partitions may lie on different servers
   */
  public RequestBatcher(
      String name, RequestBatcherProperties settings, boolean apart, Executor<T> executor) {
    this.settings = settings;
    this.apart = apart;
    this.executor = executor;
    this.queues = IntStream.range(0, Partition.COUNT).mapToObj(p -> new Queue<T>(p)).toList();
    this.underway = new AtomicReferenceArray<>(settings.threads());
    this.timeoutMonitor = new RepeatingTask(name + "-watch", WATCH_PERIOD, this::failOverdue);
    for (int i = 0; i < settings.threads(); i++) {
      int slot = i;
      Thread thread = DaemonThreads.named(name + "-" + i).newThread(() -> run(slot));
      threads.add(thread);
      thread.start();
    }
  }

  /**
   * Queues a request, never blocks.
   *
   * @return false when the partition's queue is full or the batcher is stopping; the request was
   *     not queued
   */
  public boolean offer(T request) {
    lock.lock();
    try {
      Queue<T> queue = queues.get(request.partition());
      if (stopping || queue.waiting.size() >= settings.queueCapacity()) {
        return false;
      }
      queue.waiting.add(request);
      announce(queue);
      if (unwatched) {
        unwatched = false;
        requestsToWatch.signal();
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Requests waiting, over all partitions. */
  public int depth() {
    lock.lock();
    try {
      return queues.stream().mapToInt(queue -> queue.waiting.size()).sum();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Called under the lock. Wakes a thread when the partition has work and is below its limit of
   * batches in progress.
   */
  private void announce(Queue<T> queue) {
    if (!queue.announced
        && !queue.waiting.isEmpty()
        && queue.executing < settings.batchesPerPartition()) {
      queue.announced = true;
      (queue.failing ? failingReady : ready).add(queue);
      workToDo.signal();
    }
  }

  private void run(int slot) {
    List<T> batch = new ArrayList<>(settings.maxBatch());
    List<Queue<T>> taken = new ArrayList<>();
    while (take(slot, batch, taken)) {
      try {
        executor.execute(batch);
        worked(taken, true);
      } catch (CallNotPermittedException e) {
        log.debug("{}: nothing was sent: {}", partitions(taken), e.toString());
      } catch (JedisException e) { // expected while Redis is down; the breaker bounds how often
        log.warn(
            "{}: a batch of {} has no answer: {}", partitions(taken), batch.size(), e.toString());
        worked(taken, e instanceof JedisDataException);
      } catch (RuntimeException e) {
        log.error("{}: a batch of {} was not executed", partitions(taken), batch.size(), e);
      } finally {
        batch.forEach(request -> request.fail(PendingRequest.Failure.UNKNOWN));
        putBack(slot, taken);
      }
    }
  }

  private static String partitions(List<? extends Queue<?>> taken) {
    return taken.stream()
        .map(queue -> Integer.toString(queue.partition))
        .collect(Collectors.joining(", ", "partition ", ""));
  }

  /**
   * Waits for work and takes a batch of it.
   *
   * @param taken gets the queues that the batch is from
   * @return false when the batcher is stopping and no work is left
   */
  private boolean take(int slot, List<T> batch, List<Queue<T>> taken) {
    batch.clear();
    taken.clear();
    lock.lock();
    try {
      while (batch.isEmpty()) {
        boolean mayTry = !failingReady.isEmpty() && trying < 0;
        if (!ready.isEmpty() || mayTry) {
          triedLast = mayTry && (ready.isEmpty() || !triedLast);
          fill(slot, batch, taken);
        } else if (stopping) {
          return false;
        } else {
          workToDo.awaitUninterruptibly();
        }
      }
      underway.set(slot, List.copyOf(batch));
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Called under the lock. Takes nothing when the timeout monitor has emptied the queues. */
  private void fill(int slot, List<T> batch, List<Queue<T>> taken) {
    ArrayDeque<Queue<T>> from = triedLast ? failingReady : ready;
    do {
      Queue<T> queue = from.remove();
      queue.announced = false;
      boolean waitsForTrial = queue.failing && !triedLast; // it began to fail while it was in ready
      int before = batch.size();
      while (!waitsForTrial && batch.size() < settings.maxBatch() && !queue.waiting.isEmpty()) {
        batch.add(queue.waiting.remove());
      }
      if (batch.size() > before) {
        taken.add(queue);
        queue.executing++;
        trying = triedLast ? slot : trying;
      }
      announce(queue);
    } while (!apart && batch.size() < settings.maxBatch() && !from.isEmpty());
  }

  /** Whether the last call for these partitions reached its server. */
  private void worked(List<Queue<T>> taken, boolean reached) {
    lock.lock();
    try {
      taken.forEach(queue -> queue.failing = apart && !reached);
    } finally {
      lock.unlock();
    }
  }

  private void putBack(int slot, List<Queue<T>> taken) {
    underway.set(slot, null);
    lock.lock();
    try {
      if (trying == slot) {
        trying = -1;
        workToDo.signal();
      }
      for (Queue<T> queue : taken) {
        queue.executing--;
        announce(queue);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Waits, without waking up, while there is no request. */
  private void awaitRequests() {
    lock.lock();
    try {
      unwatched =
          queues.stream().allMatch(queue -> queue.waiting.isEmpty() && queue.executing == 0);
      while (unwatched && !stopping) {
        requestsToWatch.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  private void failOverdue() {
    awaitRequests();
    long now = System.nanoTime();
    long lastUnsent = now - settings.queueWait().toNanos();
    for (Queue<T> queue : queues) {
      overdue(queue, lastUnsent).forEach(request -> request.fail(PendingRequest.Failure.NOT_SENT));
    }
    long lastSent = now - settings.answerWithin().toNanos();
    for (int slot = 0; slot < settings.threads(); slot++) {
      List<T> batch = underway.get(slot);
      if (batch != null) {
        batch.stream()
            .filter(request -> request.bornNanos() - lastSent <= 0)
            .forEach(request -> request.fail(PendingRequest.Failure.UNKNOWN));
      }
    }
  }

  private List<T> overdue(Queue<T> queue, long bornBefore) {
    List<T> overdue = new ArrayList<>();
    lock.lock();
    try {
      ArrayDeque<T> waiting = queue.waiting;
      while (!waiting.isEmpty() && waiting.element().bornNanos() - bornBefore <= 0) {
        overdue.add(waiting.remove());
      }
    } finally {
      lock.unlock();
    }
    return overdue;
  }

  /**
   * Accepts no more requests, executes those that wait, and ends the threads within two seconds.
   */
  @Override
  public void close() {
    lock.lock();
    try {
      stopping = true;
      workToDo.signalAll();
      requestsToWatch.signal();
    } finally {
      lock.unlock();
    }
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_WAIT_MS);
    for (Thread thread : threads) {
      joinUntil(thread, deadline);
    }
    timeoutMonitor.close();
  }

  private static void joinUntil(Thread thread, long deadline) {
    try {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      thread.join(Math.max(1, leftMs));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
