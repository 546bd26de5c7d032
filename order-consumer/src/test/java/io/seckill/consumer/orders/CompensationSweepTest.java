package io.seckill.consumer.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.consumer.runtime.IdlePaces;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.testing.CannedRedis;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import redis.clients.jedis.UnifiedJedis;

class CompensationSweepTest {

  private static final long PENDING = 10_000;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @Test
  void readsOnePageWhileRedisIsUnavailable() {
    try (UnifiedJedis nowhere =
        RedisClients.open(RedisSettings.single("redis://127.0.0.1:1"), "test")) {
      ManyPending table = new ManyPending();
      RedisCallGuard guard = new RedisCallGuard(nowhere, meters);
      CompensationSweep sweep =
          new CompensationSweep(
              table,
              new Compensations(table, new JdbcTemplate(), nowhere, guard, meters),
              new OrderResults(nowhere, guard, meters),
              guard,
              IdlePaces.create(meters));

      sweep.sweep();

      assertThat(table.pages).isEqualTo(1);
    }
  }

  /** Delivered, they would not be swept again, and nobody would write the results. */
  @Test
  void deliversNoCompensationWhoseResultRedisMayLack() {
    List<Compensation> delivered = new ArrayList<>();
    try (UnifiedJedis redis = new CannedRedis(command -> 1L)) {
      ManyPending table = new ManyPending();
      RedisCallGuard guard = new RedisCallGuard(redis, meters);
      CompensationSweep sweep =
          new CompensationSweep(
              table,
              new Compensations(table, new JdbcTemplate(), redis, guard, meters) {
                @Override
                public boolean deliver(Collection<Compensation> pending) {
                  return delivered.addAll(pending);
                }
              },
              new OrderResults(redis, guard, meters) {
                @Override
                public boolean write(Collection<OrderResult> results) {
                  return false;
                }
              },
              guard,
              IdlePaces.create(meters));

      sweep.sweep();

      assertThat(delivered).isEmpty();
    }
  }

  /** Rows for orders 1 to {@value CompensationSweepTest#PENDING}. */
  private static final class ManyPending extends CompensationTable {
    private int pages;

    ManyPending() {
      super(JdbcClient.create(new JdbcTemplate()));
    }

    @Override
    List<Compensation> pending(long afterOrderId, int minAgeSeconds, int limit) {
      pages++;
      return LongStream.rangeClosed(afterOrderId + 1, Math.min(afterOrderId + limit, PENDING))
          .mapToObj(id -> new Compensation(new OrderId(id), 1 + id % 40, 1, 1, 1, 1, "key-" + id))
          .toList();
    }

    @Override
    List<OrderResult> results(List<Compensation> compensations) {
      return List.of();
    }
  }
}
