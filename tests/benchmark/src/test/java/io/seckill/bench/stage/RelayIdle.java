package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.MadeOrders;
import io.seckill.bench.lab.Users;
import io.seckill.bench.report.CpuCost;
import io.seckill.bench.report.Figures;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.redis.RedisKeys;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import redis.clients.jedis.UnifiedJedis;

/** An almost idle relay: the time of a single order, and the CPU time of waiting. */
final class RelayIdle {

  static final String P50 = "relay.idle_p50_ms";
  static final String P99 = "relay.idle_p99_ms";
  static final String CPU = "relay.idle_cpu_percent";

  private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** A measured time may be too long by this interval and a round trip to Redis. */
  private static final long LOOK_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private RelayIdle() {}

  /** The relay must run, warm and idle; its orders stay in the order queues. */
  static void measure(Lab lab, Figures figures, List<BenchSale> sales) {
    lab.progress().now("relay: single orders into an idle outbox");
    Histogram micros = singleOrders(lab, sales, lab.settings().choose(200, 150));
    figures.add(P50, micros.getValueAtPercentile(50) / 1_000.0);
    figures.add(P99, micros.getValueAtPercentile(99) / 1_000.0);
    lab.progress().now("relay: idle");
    figures.add(CPU, lab.idlePercent(CpuCost.RELAY));
  }

  private static Histogram singleOrders(Lab lab, List<BenchSale> sales, int count) {
    Histogram micros = new Histogram(3);
    Users users = lab.newUsers(count);
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) {
      BenchSale sale = sales.get(i % sales.size());
      sleepUntil(start + i * INTERVAL_NANOS);
      micros.recordValue(micros(lab.redis(), sale, message(sale, users.id(i))));
    }
    return micros;
  }

  private static String message(BenchSale sale, long user) {
    return OrderMessageCodec.encode(
        new MadeOrders(List.of(sale), new Users(user, 1)).stream().findFirst().orElseThrow());
  }

  /**
   * Returns the time from before the LPUSH to after the first check that finds the order counted as
   * published, which one script call does together with its removal from the private queue.
   */
  private static long micros(UnifiedJedis redis, BenchSale sale, String message) {
    String sku = RedisKeys.sku(sale.skuId());
    String before = redis.hget(sku, "publishedOrders");
    long start = System.nanoTime();
    redis.lpush(RedisKeys.outbox(sale.partition()), message);
    while (Objects.equals(before, redis.hget(sku, "publishedOrders"))) {
      if (System.nanoTime() - start > PATIENCE_NANOS) {
        throw new IllegalStateException("the relay has not published an order of  " + sale);
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    return TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - start);
  }

  private static void sleepUntil(long nanoTime) {
    for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
