package io.seckill.gateway.admission;

import io.seckill.common.order.Partition;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the worker leases: renews them in time, and takes a number wherever none is held. Its one
 * thread calls nothing but Redis: a MySQL that hangs must not cost a running sale its order ids.
 */
final class WorkerLeaseRenewer implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(WorkerLeaseRenewer.class);
  private static final long TICK_MS = 50;

  private final WorkerLeases leases;
  private final long renewNanos;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(WorkerLeaseRenewer::daemon);
  private final ScheduledFuture<?> ticking;
  private final long[] renewedNanos = new long[Partition.COUNT];

  /**
   * @param duration life of a lease without renewal
   */
  WorkerLeaseRenewer(WorkerLeases leases, Duration duration) {
    this.leases = leases;
    this.renewNanos = duration.toNanos() / 4;
    Arrays.fill(renewedNanos, System.nanoTime() - renewNanos);
    this.ticking = thread.scheduleWithFixedDelay(this::tick, 0, TICK_MS, TimeUnit.MILLISECONDS);
  }

  private void tick() {
    try {
      for (int p = 0; p < Partition.COUNT; p++) {
        if (leases.of(p).worker() < 0 || System.nanoTime() - renewedNanos[p] >= renewNanos) {
          renewedNanos[p] = System.nanoTime();
          leases.of(p).renew();
        }
      }
    } catch (RuntimeException e) { // a throw would end the schedule
      log.error("the worker leases cannot be kept", e);
    }
  }

  /** Ends the renewals; the number stays leased until it is released or runs out. */
  @Override
  public void close() {
    ticking.cancel(false);
    thread.shutdown();
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "worker-lease");
    thread.setDaemon(true);
    return thread;
  }
}
