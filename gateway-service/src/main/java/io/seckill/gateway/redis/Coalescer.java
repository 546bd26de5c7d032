package io.seckill.gateway.redis;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.Partition;
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
 * Sends concurrent requests of a partition to Redis together. A batch goes as soon as a thread is
 * free, so an idle system adds no wait and a busy one makes large batches. Queues are bounded, and
 * every ticket is answered in time, even when all threads hang in a dead Redis: a watchman answers
 * for them. Where partitions lie on different servers, those whose last call failed on its way
 * share one thread, whatever their number; the other threads serve the rest.
 *
 * @param <T> what travels; tickets of one batch share a partition
 */
public final class Coalescer<T extends Ticket> implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(Coalescer.class);
  private static final long WATCH_PERIOD_MS = 10;
  private static final long STOP_WAIT_MS = 2_000;

  /** Carries one batch; called by one of the coalescer's threads, may block. */
  @FunctionalInterface
  public interface Carrier<T> {

    /**
     * Answers every ticket; those it leaves open, also by throwing, fail as UNKNOWN. Throws what
     * Redis or the breaker threw.
     *
     * @param tickets 1..maxBatch, oldest first
     */
    void carry(int partition, List<T> tickets);
  }

  private final CoalescerProperties settings;
  private final boolean apart;
  private final Carrier<T> carrier;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition workToDo = lock.newCondition();
  private final List<ArrayDeque<T>> queues = new ArrayList<>(Partition.COUNT);
  private final ArrayDeque<Integer> ready = new ArrayDeque<>(Partition.COUNT);
  private final ArrayDeque<Integer> failingReady = new ArrayDeque<>(Partition.COUNT);
  private final boolean[] failing = new boolean[Partition.COUNT];
  private final boolean[] inReady = new boolean[Partition.COUNT];
  private final int[] carried = new int[Partition.COUNT];

  /** Whether a thread is in a call for a failing partition. */
  private boolean trying;

  /** Whether the last call that began was such a one: with a single thread the next is not. */
  private boolean triedLast;

  private boolean stopping;

  /** Threads that are in a call for a failing partition. */
  private final boolean[] tries;

  private final AtomicReferenceArray<@Nullable List<T>> underway;
  private final List<Thread> threads = new ArrayList<>();
  private final ScheduledExecutorService watchman;
  private final ScheduledFuture<?> watching;

  /**
   * Starts the threads.
   *
   * @param name names the threads
   * @param apart whether partitions may lie on different servers
   */
  public Coalescer(String name, CoalescerProperties settings, boolean apart, Carrier<T> carrier) {
    this.settings = settings;
    this.apart = apart;
    this.carrier = carrier;
    for (int p = 0; p < Partition.COUNT; p++) {
      queues.add(new ArrayDeque<>());
    }
    this.tries = new boolean[settings.threads()];
    this.underway = new AtomicReferenceArray<>(settings.threads());
    this.watchman =
        Executors.newSingleThreadScheduledExecutor(work -> daemon(work, name + "-watch"));
    this.watching =
        watchman.scheduleWithFixedDelay(
            this::failOverdue, WATCH_PERIOD_MS, WATCH_PERIOD_MS, TimeUnit.MILLISECONDS);
    for (int i = 0; i < settings.threads(); i++) {
      int slot = i;
      Thread thread = daemon(() -> run(slot), name + "-" + i);
      threads.add(thread);
      thread.start();
    }
  }

  /**
   * Queues a ticket, never blocks.
   *
   * @return false when the partition's queue is full or this is stopping; the ticket was not taken
   */
  public boolean offer(int partition, T ticket) {
    lock.lock();
    try {
      ArrayDeque<T> queue = queues.get(partition);
      if (stopping || queue.size() >= settings.queueCapacity()) {
        return false;
      }
      queue.add(ticket);
      announce(partition);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Tickets waiting, over all partitions. */
  public int depth() {
    lock.lock();
    try {
      return queues.stream().mapToInt(ArrayDeque::size).sum();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Under the lock: lets a thread know when the partition has work and may be carried once more.
   */
  private void announce(int partition) {
    if (!inReady[partition]
        && !queues.get(partition).isEmpty()
        && carried[partition] < settings.batchesPerPartition()) {
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
        carrier.carry(partition, batch);
        worked(partition, true);
      } catch (CallNotPermittedException e) {
        log.debug("partition {}: nothing was sent: {}", partition, e.toString());
      } catch (JedisException e) { // expected while Redis is away; the breaker bounds how often
        log.warn(
            "partition {}: a batch of {} has no answer: {}", partition, batch.size(), e.toString());
        worked(partition, e instanceof JedisDataException);
      } catch (RuntimeException e) {
        log.error("partition {}: a batch of {} was not carried", partition, batch.size(), e);
      } finally {
        batch.forEach(ticket -> ticket.fail(Ticket.Failure.UNKNOWN));
        putBack(slot, partition);
      }
    }
  }

  /** Waits for work; returns its partition, or -1 when it is time to stop and nothing is left. */
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
        if (failing[partition] && !triedLast) { // it failed while it waited among the others
          announce(partition);
          continue;
        }
        drain(queues.get(partition), batch);
        if (!batch.isEmpty()) { // else the watchman was faster
          carried[partition]++;
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
      carried[partition]--;
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
      overdue(p, lastUnsent).forEach(ticket -> ticket.fail(Ticket.Failure.NOT_SENT));
    }
    long lastSent = now - settings.answerWithin().toNanos();
    for (int slot = 0; slot < settings.threads(); slot++) {
      List<T> batch = underway.get(slot);
      if (batch != null) {
        batch.stream()
            .filter(ticket -> ticket.bornNanos() - lastSent <= 0)
            .forEach(ticket -> ticket.fail(Ticket.Failure.UNKNOWN));
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

  /** Takes no more tickets, carries those that wait, and ends the threads within two seconds. */
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
    watchman.shutdown();
  }

  private static void joinUntil(Thread thread, long deadline) {
    try {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      thread.join(Math.max(1, leftMs));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Thread daemon(Runnable work, String name) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }
}
