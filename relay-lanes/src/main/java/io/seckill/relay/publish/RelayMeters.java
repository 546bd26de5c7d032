package io.seckill.relay.publish;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Counters and timers of one relay, all named {@code seckill.relay.*}. Thread-safe. */
public final class RelayMeters {

  private static final Duration[] CONFIRM_BUCKETS = {
    Duration.ofMillis(1),
    Duration.ofMillis(2),
    Duration.ofMillis(5),
    Duration.ofMillis(10),
    Duration.ofMillis(25),
    Duration.ofMillis(50),
    Duration.ofMillis(100),
    Duration.ofMillis(250),
    Duration.ofMillis(500),
    Duration.ofSeconds(1),
    Duration.ofMillis(2_500),
    Duration.ofSeconds(5),
    Duration.ofSeconds(10)
  };

  private final MeterRegistry registry;
  private final Timer confirms;
  private final DistributionSummary batchSize;
  private final Counter nacks;
  private final Counter returns;
  private final Counter settled;
  private final Counter republished;
  private final Counter adopted;
  private final Counter unreadable;
  private final Counter leasesFenced;
  private final BlockedTime blocked = new BlockedTime();

  public RelayMeters(MeterRegistry registry) {
    this.registry = registry;
    this.confirms =
        Timer.builder("seckill.relay.confirm")
            .description("from publish to confirm, per confirmed order")
            .serviceLevelObjectives(CONFIRM_BUCKETS)
            .register(registry);
    this.batchSize =
        DistributionSummary.builder("seckill.relay.batch.size")
            .description("orders that a lane publishes at once")
            .serviceLevelObjectives(1, 4, 16, 64, 256, 512)
            .register(registry);
    this.nacks = counter("nacks", "orders the broker refused");
    this.returns = counter("returns", "orders the broker could not route");
    this.settled = counter("settled", "orders removed from private queues after their confirm");
    this.republished = counter("republished", "orders published again from a private queue");
    this.adopted = counter("adopted", "orders taken over from dead private queues");
    this.unreadable = counter("unreadable", "outbox entries sent to the dead-letter exchange");
    this.leasesFenced = counter("leases.fenced", "leases of lanes that another lane has fenced");
    FunctionCounter.builder(
            "seckill.relay.blocked.seconds",
            blocked,
            time -> time.nanosUntil(System.nanoTime()) / (double) TimeUnit.SECONDS.toNanos(1))
        .description("time connections were blocked by an alarm of the broker, over all lanes")
        .register(registry);
  }

  private Counter counter(String name, String description) {
    return Counter.builder("seckill.relay." + name).description(description).register(registry);
  }

  MeterRegistry registry() {
    return registry;
  }

  public void gauge(String name, String description, Tags tags, Supplier<Number> value) {
    Gauge.builder("seckill.relay." + name, value)
        .description(description)
        .tags(tags)
        .register(registry);
  }

  void published(int orders) {
    batchSize.record(orders);
  }

  /**
   * @param sentAt {@link System#nanoTime} of the publish
   */
  public void confirmed(long sentAt) {
    confirms.record(System.nanoTime() - sentAt, TimeUnit.NANOSECONDS);
  }

  void nacked(int orders) {
    nacks.increment(orders);
  }

  void returned(int orders) {
    returns.increment(orders);
  }

  public void settled(int orders) {
    settled.increment(orders);
  }

  public void republished(int orders) {
    republished.increment(orders);
  }

  public void adopted(int orders) {
    adopted.increment(orders);
  }

  public void unreadable() {
    unreadable.increment();
  }

  public void leaseFenced() {
    leasesFenced.increment();
  }

  /**
   * An alarm of the broker blocks a connection from now on.
   *
   * @param at {@link System#nanoTime}
   */
  public void blocked(long at) {
    blocked.began(at);
  }

  /**
   * The alarm has ended, or the connection is closed.
   *
   * @param since the time passed to {@link #blocked} for this connection
   */
  void unblocked(long since) {
    blocked.ended(since, System.nanoTime());
  }

  /**
   * Total time that connections have been blocked, including those that are blocked now: an alarm
   * that never ends must show as well. Times are {@link System#nanoTime}. Thread-safe.
   */
  static final class BlockedTime {

    private long blockedNow;

    /** Sum of the start times of those blocked now; may overflow, its differences stay correct. */
    private long starts;

    private long endedNanos;

    synchronized void began(long at) {
      blockedNow++;
      starts += at;
    }

    /**
     * @param since the time passed to {@link #began}
     */
    synchronized void ended(long since, long at) {
      blockedNow--;
      starts -= since;
      endedNanos += at - since;
    }

    synchronized long nanosUntil(long now) {
      return endedNanos + blockedNow * now - starts;
    }
  }
}
