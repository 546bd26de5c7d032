package io.seckill.gateway.shards;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.gateway.shards.ShardLine.Demand;
import io.seckill.gateway.shards.ShardLine.Ended;
import io.seckill.gateway.shards.WaitingPurchase.Outcome;
import io.seckill.support.thread.DaemonThreads;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;

/**
 * Lets purchases wait that their shard has refused, because the missing units may be in another
 * shard: order-consumer moves units to shards that ask for them. A line for each shard; while
 * purchases wait in it, the shard is read every 25 ms, which also asks for units. No purchase waits
 * longer than 300 ms. Thread-safe; never blocks.
 */
@Component
public final class ShardLines implements DisposableBean {

  private final ShardLooks looks;
  private final ConcurrentMap<Long, ShardLine> lines = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("shard-lines"));
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private final Map<Outcome, Counter> ended = new EnumMap<>(Outcome.class);
  private volatile boolean closed;

  ShardLines(ShardLooks looks, MeterRegistry meters) {
    this.looks = looks;
    Gauge.builder("seckill.shard.waiting", this, ShardLines::size)
        .description("Purchases that wait for units of other shards")
        .register(meters);
    for (Outcome outcome : Outcome.values()) {
      ended.put(
          outcome,
          Counter.builder("seckill.shard.waits")
              .description("Waits for units of other shards, by outcome")
              .tag("outcome", outcome.name().toLowerCase(Locale.ROOT))
              .register(meters));
    }
  }

  /** Lets a purchase wait; one that has waited for too long, or finds no room, is answered here. */
  public void await(WaitingPurchase purchase) {
    long now = System.nanoTime();
    boolean[] added = new boolean[1];
    ShardLine line =
        lines.compute(
            purchase.shardId(),
            (shard, found) -> {
              ShardLine one = found == null ? new ShardLine() : found;
              added[0] = one.add(purchase, now); // in here: a tick removes idle lines
              return one;
            });
    if (added[0]) {
      look(purchase.shardId(), line, now);
    } else {
      end(List.of(new Ended(purchase, Outcome.BUSY)), now);
    }
    schedule();
  }

  private void look(long shardId, ShardLine line, long now) {
    Demand demand = line.beginLook(now);
    if (demand != null) {
      looks.begin(shardId, demand, seen -> end(line.endLook(seen), now));
    }
  }

  /** A tick is scheduled while there are lines. */
  private void schedule() {
    if (closed) {
      removeAll();
    } else if (scheduled.compareAndSet(false, true)) {
      try {
        var unused =
            timer.schedule(this::tick, ShardLine.LOOK_EVERY.toNanos(), TimeUnit.NANOSECONDS);
      } catch (RejectedExecutionException e) { // closed in between
        removeAll();
      }
    }
  }

  /** Looks where a look is due, answers those who cannot wait for one, and drops idle lines. */
  void tick() {
    scheduled.set(false); // before the lines are read: a purchase that comes later schedules again
    long now = System.nanoTime();
    lines.forEach(
        (shardId, line) -> {
          end(line.removeOverdue(now), now);
          look(shardId, line, now);
          lines.computeIfPresent(shardId, (shard, one) -> one.isIdle(now) ? null : one);
        });
    if (!isIdle()) {
      schedule();
    }
  }

  /** Whether there is no line. */
  boolean isIdle() {
    return lines.isEmpty();
  }

  private int size() {
    return lines.values().stream().mapToInt(ShardLine::size).sum();
  }

  @SuppressWarnings("NullAway") // the map holds every constant
  private void end(Collection<Ended> all, long askedNanos) {
    for (Ended one : all) {
      ended.get(one.outcome()).increment();
      one.purchase().waiter().ended(one.outcome(), askedNanos);
    }
  }

  private void removeAll() {
    lines.values().forEach(line -> end(line.removeAll(), System.nanoTime()));
  }

  @Override
  public void destroy() {
    closed = true;
    timer.shutdownNow();
    removeAll();
  }
}
