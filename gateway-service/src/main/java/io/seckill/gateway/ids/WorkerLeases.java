package io.seckill.gateway.ids;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.security.RunningGateways;
import io.seckill.support.thread.RepeatingTask;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * The worker lease of every partition, each renewed in time, which also counts the gateways. The
 * thread that renews them calls only Redis: a blocked MySQL must not leave a running sale without
 * order ids. Closed after all beans that take ids or renew.
 */
@Component
public final class WorkerLeases implements RunningGateways, AutoCloseable {

  /** Outlasts short outages of Redis; the numbers of a dead gateway are free again this soon. */
  public static final Duration DURATION = Duration.ofSeconds(10);

  private static final Duration TICK = Duration.ofMillis(50);

  private final List<WorkerLease> leases;
  private final long renewNanos;
  private final long[] renewedNanos = new long[Partition.COUNT];
  private final RepeatingTask renewing;
  private volatile int gateways = 1;

  @Autowired
  WorkerLeases(UnifiedJedis redis, RedisBreaker breaker, MeterRegistry meters) {
    this(redis, breaker, DURATION);
    Gauge.builder("seckill.gateways", this, WorkerLeases::count)
        .description("Running gateways as this one counts them; it grants its share of the limits")
        .register(meters);
  }

  /** A lease expires after this duration unless it is renewed. */
  public WorkerLeases(UnifiedJedis redis, RedisBreaker breaker, Duration duration) {
    this.leases =
        IntStream.range(0, Partition.COUNT)
            .mapToObj(p -> new WorkerLease(redis, breaker, p, Clock.systemUTC(), duration))
            .toList();
    this.renewNanos = duration.toNanos() / 4;
    Arrays.fill(renewedNanos, System.nanoTime() - renewNanos);
    this.renewing = new RepeatingTask("worker-lease", TICK, this::renewDue);
  }

  /** Returns a new order id; null while this gateway holds no worker number of the partition. */
  public @Nullable OrderId nextId(int partition) {
    return of(partition).next();
  }

  /** Whether Redis has confirmed the partition's lease, or a new one, during this call. */
  public boolean renew(int partition) {
    return of(partition).renew();
  }

  WorkerLease of(int partition) {
    return leases.get(partition);
  }

  @Override
  public int count() {
    return gateways;
  }

  /** Also takes a number for each partition that has none. */
  private void renewDue() {
    for (int p = 0; p < Partition.COUNT; p++) {
      if (of(p).worker() < 0 || System.nanoTime() - renewedNanos[p] >= renewNanos) {
        renewedNanos[p] = System.nanoTime();
        of(p).renew();
      }
    }
    int counted = of(WorkerLease.COUNTING).gateways();
    if (counted > 0) {
      gateways = counted;
    }
  }

  /** Ends the renewals and returns every number permanently. */
  @Override
  public void close() {
    renewing.close();
    leases.forEach(WorkerLease::release);
  }
}
