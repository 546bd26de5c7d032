package io.seckill.consumer.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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

  private static final long PENDING = 15_200;

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

      assertThat(table.read).hasSize(1);
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

  @Test
  void readsTheRowsOfAnUnavailablePartOnceInSomeRounds() {
    ManyPending table = new ManyPending();
    try (UnifiedJedis redis = CannedRedis.cluster(command -> 1L)) {
      CompensationSweep sweep = sweepOfCluster(redis, table, 1);

      sweep.sweep();
      assertThat(table.read).hasSize(20);
      sweep.sweep();

      List<Long> all = LongStream.rangeClosed(0, PENDING / 500).mapToObj(n -> n * 500).toList();
      assertThat(table.read).isEqualTo(all);
      sweep.sweep();
      assertThat(table.read.get(all.size())).as("from the oldest again").isZero();
    }
  }

  @Test
  void readsEverythingInOneRoundWhileAllPartsAnswer() {
    ManyPending table = new ManyPending();
    try (UnifiedJedis redis = CannedRedis.cluster(command -> 1L)) {
      sweepOfCluster(redis, table, -1).sweep();
    }

    assertThat(table.read).hasSize((int) PENDING / 500 + 1);
  }

  @Test
  void beginsAtTheOldestAgainAfterAFailure() {
    ManyPending table = new ManyPending();
    try (UnifiedJedis redis = CannedRedis.cluster(command -> 1L)) {
      CompensationSweep sweep = sweepOfCluster(redis, table, 1);
      sweep.sweep();
      table.fails = true;
      assertThatThrownBy(sweep::sweep).isInstanceOf(IllegalStateException.class);
      table.fails = false;
      table.read.clear();

      sweep.sweep();

      assertThat(table.read).startsWith(0L);
    }
  }

  /**
   * @param away the part that does not answer
   */
  private CompensationSweep sweepOfCluster(UnifiedJedis redis, ManyPending table, int away) {
    RedisCallGuard guard = new RedisCallGuard(redis, meters);
    return new CompensationSweep(
        table,
        new Compensations(table, new JdbcTemplate(), redis, guard, meters) {
          @Override
          public boolean deliver(Collection<Compensation> pending) {
            return pending.stream().noneMatch(one -> guard.partOf(one.skuId()) == away);
          }
        },
        new OrderResults(redis, guard, meters) {
          @Override
          public boolean write(Collection<OrderResult> results) {
            return true;
          }
        },
        guard,
        IdlePaces.create(meters));
  }

  /** Rows for orders 1 to {@value CompensationSweepTest#PENDING}. */
  private static final class ManyPending extends CompensationTable {
    private final List<Long> read = new ArrayList<>(); // the ends of the pages before

    private boolean fails;

    ManyPending() {
      super(JdbcClient.create(new JdbcTemplate()));
    }

    @Override
    List<Compensation> pending(long afterOrderId, int minAgeSeconds, int limit) {
      if (fails) {
        throw new IllegalStateException("as without an answer of MySQL");
      }
      read.add(afterOrderId);
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
