package io.seckill.gateway.backends;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.Partition;
import io.seckill.support.thread.DaemonThreads;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Sends concurrent requests of a partition to Redis in batches. A batch is sent as soon as a thread
 * is free, so an idle system adds no wait and a busy one makes large batches. Queues are bounded,
 * and every request is answered in time, even when all threads are blocked by an unresponsive
 * Redis: a timeout monitor answers instead. Where partitions are on different servers, all
 * partitions whose last call did not reach its server share one thread; the other threads serve the
 * rest.
 *
 * @param <T> type of request; requests of one batch share a partition
 */
public final class RequestBatcher<T extends PendingRequest> implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(RequestBatcher.class);
  private static final long WATCH_PERIOD_MS = 10;
  private static final long STOP_WAIT_MS = 2_000;

  /** Executes one batch; called by one of the batcher's threads, may block. */
  @FunctionalInterface
  public interface Executor<T> {

    /**
     * Answers every request; requests left unanswered, also because of an exception, fail as
     * UNKNOWN. Exceptions of Redis and of the breaker are passed on.
     *
     * @param requests 1..maxBatch, oldest first
     */
    void execute(int partition, List<T> requests);
  }

  private final RequestBatcherProperties settings;
  private final boolean apart;
  private final Executor<T> executor;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition workToDo = lock.newCondition();
  private final List<ArrayDeque<T>> queues = new ArrayList<>(Partition.COUNT);
  private final ArrayDeque<Integer> ready = new ArrayDeque<>(Partition.COUNT);
  private final ArrayDeque<Integer> failingReady = new ArrayDeque<>(Partition.COUNT);
  private final boolean[] failing = new boolean[Partition.COUNT];
  private final boolean[] inReady = new boolean[Partition.COUNT];
  private final int[] executing = new int[Partition.COUNT];

  /** Whether a thread is in a call for a failing partition. */
  private boolean trying;

  /**
   * Whether the last call that began was for a failing partition. Ready partitions then come first,
   * so that a single thread serves both.
   */
  private boolean triedLast;

  private boolean stopping;

  /** Threads that are in a call for a failing partition. */
  private final boolean[] tries;

  private final AtomicReferenceArray<@Nullable List<T>> underway;
  private final List<Thread> threads = new ArrayList<>();
  private final ScheduledExecutorService timeoutMonitor;
  private final ScheduledFuture<?> watching;

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
    for (int p = 0; p < Partition.COUNT; p++) {
      queues.add(new ArrayDeque<>());
    }
    this.tries = new boolean[settings.threads()];
    this.underway = new AtomicReferenceArray<>(settings.threads());
    this.timeoutMonitor =
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named(name + "-watch"));
    this.watching =
        timeoutMonitor.scheduleWithFixedDelay(
            this::failOverdue, WATCH_PERIOD_MS, WATCH_PERIOD_MS, TimeUnit.MILLISECONDS);
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
  public boolean offer(int partition, T request) {
    lock.lock();
    try {
      ArrayDeque<T> queue = queues.get(partition);
      if (stopping || queue.size() >= settings.queueCapacity()) {
        return false;
      }
      queue.add(request);
      announce(partition);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Requests waiting, over all partitions. */
  public int depth() {
    lock.lock();
    try {
      return queues.stream().mapToInt(ArrayDeque::size).sum();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Called under the lock. Wakes a thread when the partition has work and is below its limit of
   * batches in progress.
   */
  private void announce(int partition) {
    if (!inReady[partition]
        && !queues.get(partition).isEmpty()
        && executing[partition] < settings.batchesPerPartition()) {
      inReady[partition] = true;
      (failing[partition] ? failingReady : ready).add(partition);
      workToDo.signal();
    }
  }

  private void run(int slot) {
    List<T> batch = new ArrayList<>(settings.maxBatch());
    int partition;
    while ((partition = take(slot, batch)) >= 0) {
      try {
        executor.execute(partition, batch);
        worked(partition, true);
      } catch (CallNotPermittedException e) {
        log.debug("partition {}: nothing was sent: {}", partition, e.toString());
      } catch (JedisException e) { // expected while Redis is down; the breaker bounds how often
        log.warn(
            "partition {}: a batch of {} has no answer: {}", partition, batch.size(), e.toString());
        worked(partition, e instanceof JedisDataException);
      } catch (RuntimeException e) {
        log.error("partition {}: a batch of {} was not executed", partition, batch.size(), e);
      } finally {
        batch.forEach(request -> request.fail(PendingRequest.Failure.UNKNOWN));
        putBack(slot, partition);
      }
    }
  }

  /**
   * Waits for work; returns its partition, or -1 when the batcher is stopping and no work is left.
   */
  private int take(int slot, List<T> batch) {
    batch.clear();
    lock.lock();
    try {
      while (true) {
        boolean mayTry = !failingReady.isEmpty() && !trying;
        if (ready.isEmpty() && !mayTry) {
          if (stopping) {
            return -1;
          }
          workToDo.awaitUninterruptibly();
          continue;
        }
        triedLast = mayTry && (ready.isEmpty() || !triedLast);
        int partition = (triedLast ? failingReady : ready).remove();
        inReady[partition] = false;
        if (failing[partition] && !triedLast) { // it began to fail while it waited in ready
          announce(partition);
          continue;
        }
        drain(queues.get(partition), batch);
        if (!batch.isEmpty()) { // else the timeout monitor has emptied the queue
          executing[partition]++;
          trying |= triedLast;
          tries[slot] = triedLast;
          announce(partition);
          underway.set(slot, List.copyOf(batch));
          return partition;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether the last call for a partition reached its server. */
  private void worked(int partition, boolean reached) {
    lock.lock();
    try {
      failing[partition] = apart && !reached;
    } finally {
      lock.unlock();
    }
  }

  private void drain(ArrayDeque<T> queue, List<T> batch) {
    while (batch.size() < settings.maxBatch() && !queue.isEmpty()) {
      batch.add(queue.remove());
    }
  }

  private void putBack(int slot, int partition) {
    underway.set(slot, null);
    lock.lock();
    try {
      executing[partition]--;
      if (tries[slot]) {
        tries[slot] = false;
        trying = false;
        workToDo.signal();
      }
      announce(partition);
    } finally {
      lock.unlock();
    }
  }

  private void failOverdue() {
    long now = System.nanoTime();
    long lastUnsent = now - settings.queueWait().toNanos();
    for (int p = 0; p < Partition.COUNT; p++) {
      overdue(p, lastUnsent).forEach(request -> request.fail(PendingRequest.Failure.NOT_SENT));
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

  private List<T> overdue(int partition, long bornBefore) {
    List<T> overdue = new ArrayList<>();
    lock.lock();
    try {
      ArrayDeque<T> queue = queues.get(partition);
      for (T head = queue.peek();
          head != null && head.bornNanos() - bornBefore <= 0;
          head = queue.peek()) {
        overdue.add(queue.remove());
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
    } finally {
      lock.unlock();
    }
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(STOP_WAIT_MS);
    for (Thread thread : threads) {
      joinUntil(thread, deadline);
    }
    watching.cancel(false);
    timeoutMonitor.shutdown();
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
