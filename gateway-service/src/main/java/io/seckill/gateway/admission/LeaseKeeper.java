package io.seckill.gateway.admission;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the worker lease: renews it in time, and takes a number whenever none is held. Its one
 * thread calls nothing but Redis: a MySQL that hangs must not cost a running sale its order ids.
 */
final class LeaseKeeper implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(LeaseKeeper.class);
  private static final long TICK_MS = 50;

  private final WorkerLease lease;
  private final long renewNanos;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(LeaseKeeper::daemon);
  private final ScheduledFuture<?> ticking;
  private long renewedNanos;

  /**
   * @param duration life of the lease without renewal
   */
  LeaseKeeper(WorkerLease lease, Duration duration) {
    this.lease = lease;
    this.renewNanos = duration.toNanos() / 4;
    this.renewedNanos = System.nanoTime() - renewNanos;
    this.ticking = thread.scheduleWithFixedDelay(this::tick, 0, TICK_MS, TimeUnit.MILLISECONDS);
  }

  private void tick() {
    try {
      if (lease.worker() < 0 || System.nanoTime() - renewedNanos >= renewNanos) {
        renewedNanos = System.nanoTime();
        lease.renew();
      }
    } catch (RuntimeException e) { // a throw would end the schedule
      log.error("the worker lease cannot be kept", e);
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
