package io.seckill.gateway.admission;

import io.seckill.common.order.Partition;
import io.seckill.support.thread.DaemonThreads;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the worker leases in time, and takes a number for each partition that has none. Its one
 * thread calls only Redis: a blocked MySQL must not leave a running sale without order ids.
 */
final class WorkerLeaseRenewer implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(WorkerLeaseRenewer.class);
  private static final long TICK_MS = 50;

  private final WorkerLeases leases;
  private final long renewNanos;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("worker-lease"));
  private final ScheduledFuture<?> ticking;
  private final long[] renewedNanos = new long[Partition.COUNT];

  /**
   * @param duration time after which a lease expires unless it is renewed
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
      log.error("renewing the worker leases failed", e);
    }
  }

  /** Ends the renewals; each number stays leased until it is released or its lease expires. */
  @Override
  public void close() {
    ticking.cancel(false);
    thread.shutdown();
  }
}
