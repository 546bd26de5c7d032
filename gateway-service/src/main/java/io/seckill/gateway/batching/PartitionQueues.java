package io.seckill.gateway.batching;

import io.seckill.common.order.Partition;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The waiting requests of a {@link RequestBatcher}: a bounded queue for each partition, and the
 * order in which its threads take batches from them. Thread-safe.
 *
 * @param <T> type of request
 */
final class PartitionQueues<T extends PendingRequest> {

  private final RequestBatcherProperties settings;
  private final boolean apart;
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

  /** The batch of each thread. */
  private final AtomicReferenceArray<@Nullable List<T>> underway;

  /** The requests of a partition; guarded by the lock. */
  static final class Queue<T> {
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

  PartitionQueues(RequestBatcherProperties settings, boolean apart) {
    this.settings = settings;
    this.apart = apart;
    this.queues = Partition.ALL.stream().map(p -> new Queue<T>(p)).toList();
    this.underway = new AtomicReferenceArray<>(settings.threads());
  }

  /**
   * Queues a request, never blocks.
   *
   * @return false when the partition's queue is full or {@link #stop} was called; the request was
   *     not queued
   */
  boolean offer(T request) {
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
  int depth() {
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

  /**
   * Waits for work and takes a batch of it.
   *
   * @param slot number of the thread, from 0
   * @param taken gets the queues that the batch is from
   * @return false after {@link #stop}, when no work is left
   */
  boolean take(int slot, List<T> batch, List<Queue<T>> taken) {
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
  void worked(List<Queue<T>> taken, boolean reached) {
    lock.lock();
    try {
      taken.forEach(queue -> queue.failing = apart && !reached);
    } finally {
      lock.unlock();
    }
  }

  void putBack(int slot, List<Queue<T>> taken) {
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
  void awaitRequests() {
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

  /** Removes and returns the waiting requests that were born up to this time. */
  List<T> takeOverdue(long bornNanos) {
    List<T> overdue = new ArrayList<>();
    lock.lock();
    try {
      for (Queue<T> queue : queues) {
        ArrayDeque<T> waiting = queue.waiting;
        while (!waiting.isEmpty() && waiting.element().bornNanos() - bornNanos <= 0) {
          overdue.add(waiting.remove());
        }
      }
    } finally {
      lock.unlock();
    }
    return overdue;
  }

  /** The requests in batches under way that were born up to this time. */
  List<T> overdueUnderway(long bornNanos) {
    List<T> overdue = new ArrayList<>();
    for (int slot = 0; slot < settings.threads(); slot++) {
      List<T> batch = underway.get(slot);
      if (batch != null) {
        batch.stream()
            .filter(request -> request.bornNanos() - bornNanos <= 0)
            .forEach(overdue::add);
      }
    }
    return overdue;
  }

  /** Accepts no more requests; those that wait are still taken. */
  void stop() {
    lock.lock();
    try {
      stopping = true;
      workToDo.signalAll();
      requestsToWatch.signal();
    } finally {
      lock.unlock();
    }
  }
}
