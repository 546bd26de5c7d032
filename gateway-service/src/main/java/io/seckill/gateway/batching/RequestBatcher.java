package io.seckill.gateway.batching;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.gateway.batching.PartitionQueues.Queue;
import io.seckill.support.logging.ThrottledLog;
import io.seckill.support.thread.DaemonThreads;
import io.seckill.support.thread.RepeatingTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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
  private static final ThrottledLog failures = new ThrottledLog(log);
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

  private final String name;
  private final RequestBatcherProperties settings;
  private final Executor<T> executor;
  private final PartitionQueues<T> queues;
  private final List<Thread> threads = new ArrayList<>();
  private final RepeatingTask timeoutMonitor;

  /**
   * Starts the threads.
   *
   * @param name names the threads and the gauge
   * @param apart whether partitions may lie on different servers
   */
  public RequestBatcher(
      String name, RequestBatcherProperties settings, boolean apart, Executor<T> executor) {
    this.name = name;
    this.settings = settings;
    this.executor = executor;
    this.queues = new PartitionQueues<>(settings, apart);
    this.timeoutMonitor = new RepeatingTask(name + "-watch", WATCH_PERIOD, this::failOverdue);
    for (int i = 0; i < settings.threads(); i++) {
      int slot = i;
      Thread thread = DaemonThreads.named(name + "-" + i).newThread(() -> run(slot));
      threads.add(thread);
      thread.start();
    }
  }

  /**
   * Queues a request, or fails it as NOT_SENT when the partition's queue is full or the batcher is
   * stopping. Never blocks.
   */
  public void submit(T request) {
    if (!queues.offer(request)) {
      request.fail(PendingRequest.Failure.NOT_SENT);
    }
  }

  public int depth() {
    return queues.depth();
  }

  public void registerDepth(MeterRegistry meters) {
    Gauge.builder("seckill.queue.depth", this, RequestBatcher::depth)
        .description("Requests that wait to be sent to the service that decides them")
        .tag("queue", name)
        .register(meters);
  }

  private void run(int slot) {
    List<T> batch = new ArrayList<>(settings.maxBatch());
    List<Queue<T>> taken = new ArrayList<>();
    while (queues.take(slot, batch, taken)) {
      try {
        executor.execute(batch);
        queues.worked(taken, true);
      } catch (CallNotPermittedException e) {
        log.debug("{}: nothing was sent: {}", partitions(taken), e.toString());
      } catch (JedisException e) { // expected while Redis is down; the breaker bounds how often
        failures.warn(partitions(taken) + ": a batch of " + batch.size() + " has no answer", e);
        queues.worked(taken, e instanceof JedisDataException);
      } catch (RuntimeException | Error e) { // an Error would end one of few threads
        log.error("{}: a batch of {} was not executed", partitions(taken), batch.size(), e);
      } finally {
        batch.forEach(request -> request.fail(PendingRequest.Failure.UNKNOWN));
        queues.putBack(slot, taken);
      }
    }
  }

  private static String partitions(List<? extends Queue<?>> taken) {
    return taken.stream()
        .map(queue -> Integer.toString(queue.partition))
        .collect(Collectors.joining(", ", "partition ", ""));
  }

  private void failOverdue() {
    queues.awaitRequests();
    long now = System.nanoTime();
    queues
        .takeOverdue(now - settings.queueWait().toNanos())
        .forEach(request -> request.fail(PendingRequest.Failure.NOT_SENT));
    queues
        .overdueUnderway(now - settings.answerWithin().toNanos())
        .forEach(request -> request.fail(PendingRequest.Failure.UNKNOWN));
  }

  /**
   * Accepts no more requests, executes those that wait, and ends the threads within two seconds.
   */
  @Override
  public void close() {
    queues.stop();
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
