package io.seckill.gateway.ids;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisClients;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.security.RunningGateways;
import io.seckill.support.thread.RepeatingTask;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;

/**
 * The worker lease of every partition, each renewed in time, which also counts the gateways. The
 * threads that renew them call only Redis: a blocked MySQL must not leave a running sale without
 * order ids. Closed after all beans that take ids or renew.
 */
@Component
public final class WorkerLeases implements RunningGateways, AutoCloseable {

  /** Outlasts short outages of Redis; the numbers of a dead gateway are free again this soon. */
  public static final Duration DURATION = Duration.ofSeconds(10);

  private final List<WorkerLease> leases;
  private final List<RepeatingTask> renewing;
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
        Partition.ALL.stream()
            .map(p -> new WorkerLease(redis, breaker, p, Clock.systemUTC(), duration))
            .toList();
    this.renewing =
        groups(redis).stream()
            .map(group -> new LeaseRenewal(group, duration.dividedBy(4)))
            .map(
                renewal ->
                    new RepeatingTask("worker-lease", renewal::untilDue, () -> renew(renewal)))
            .toList();
  }

  /**
   * The leases that one thread renews, one after the other. On a cluster a node that does not
   * answer must not delay the others, so each partition has a thread of its own.
   */
  private List<List<WorkerLease>> groups(UnifiedJedis redis) {
    return RedisClients.areApart(redis) ? leases.stream().map(List::of).toList() : List.of(leases);
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

  private void renew(LeaseRenewal renewal) {
    renewal.renewDue();
    int counted = of(WorkerLease.COUNTING).gateways();
    if (counted > 0) {
      gateways = counted;
    }
  }

  /** Ends the renewals and returns every number permanently. */
  @Override
  public void close() {
    renewing.forEach(RepeatingTask::close);
    leases.forEach(WorkerLease::release);
  }
}
