package io.seckill.gateway.ids;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/** Renews the leases of one breaker one after the other, each in time. For one thread. */
final class LeaseRenewal {

  /** Between two looks while Redis has not confirmed every lease. */
  static final Duration TICK = Duration.ofMillis(50);

  private final List<WorkerLease> leases;
  private final long intervalNanos;
  private final long[] renewedNanos;
  private final boolean[] confirmed;

  LeaseRenewal(List<WorkerLease> leases, Duration interval) {
    this.leases = leases;
    this.intervalNanos = interval.toNanos();
    this.renewedNanos = new long[leases.size()];
    this.confirmed = new boolean[leases.size()];
    Arrays.fill(renewedNanos, System.nanoTime() - intervalNanos);
  }

  /** Also takes a number for each partition that has none. */
  void renewDue() {
    for (int i = 0; i < leases.size(); i++) {
      WorkerLease lease = leases.get(i);
      if (lease.worker() < 0 || System.nanoTime() - renewedNanos[i] >= intervalNanos) {
        renewedNanos[i] = System.nanoTime();
        confirmed[i] = lease.renew();
      }
    }
    leases.get(0).tryWrite();
  }

  /** Until the next renewal; a lease that is not confirmed may end before. */
  Duration untilDue() {
    long now = System.nanoTime();
    long left = intervalNanos;
    for (int i = 0; i < leases.size(); i++) {
      left = Math.min(left, confirmed[i] ? renewedNanos[i] + intervalNanos - now : 0);
    }
    return Duration.ofNanos(Math.max(TICK.toNanos(), left));
  }
}
