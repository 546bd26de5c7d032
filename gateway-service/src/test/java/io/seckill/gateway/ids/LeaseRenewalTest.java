package io.seckill.gateway.ids;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

class LeaseRenewalTest {

  private static final Duration LONG = Duration.ofHours(1);
  private static final Duration INTERVAL = LONG.dividedBy(4);
  private static final Object LEASED = List.of("5", "0", "9000000000000", "1");

  @Test
  void restsUntilTheNextRenewalWhileEveryLeaseIsConfirmed() {
    CannedRedis redis = new CannedRedis(command -> LEASED);
    LeaseRenewal renewal = renewal(redis);

    renewal.renewDue();

    assertThat(renewal.untilDue()).isBetween(INTERVAL.dividedBy(2), INTERVAL);
    renewal.renewDue();
    assertThat(redis.roundTrips()).isEqualTo(Partition.COUNT);
  }

  @Test
  void looksOftenUntilTheLastLeaseIsConfirmed() {
    AtomicBoolean answers = new AtomicBoolean();
    LeaseRenewal renewal =
        renewal(
            new CannedRedis(
                command ->
                    answers.get() || !command.contains(RedisKeys.workers(0))
                        ? LEASED
                        : new JedisDataException("ERR of this partition")));

    renewal.renewDue();

    assertThat(renewal.untilDue()).isEqualTo(LeaseRenewal.TICK);
    answers.set(true);
    renewal.renewDue();
    assertThat(renewal.untilDue()).isBetween(INTERVAL.dividedBy(2), INTERVAL);
  }

  @Test
  void renewsEveryLeaseAgainWhenItsIntervalIsOver() {
    CannedRedis redis = new CannedRedis(command -> LEASED);
    LeaseRenewal renewal = renewal(redis, Duration.ZERO);

    renewal.renewDue();
    renewal.renewDue();

    assertThat(redis.roundTrips()).isEqualTo(2 * Partition.COUNT);
  }

  /** While MySQL decides, no purchase shows that Redis takes writes again. */
  @Test
  void triesAWriteAfterARefusalAsAFullRedisRenewsLeases() {
    AtomicBoolean full = new AtomicBoolean(true);
    CannedRedis redis =
        new CannedRedis(
            command ->
                !command.get(0).equals("SET")
                    ? LEASED
                    : full.get() ? new JedisDataException("OOM command not allowed") : "OK");
    RedisBreaker breaker = RedisBreakers.of(redis, new SimpleMeterRegistry());
    LeaseRenewal renewal = renewal(redis, breaker, Duration.ZERO);
    eventually().until(() -> opensAfterARefusal(redis, breaker)); // three within a second

    eventually().until(() -> renewedAndClosed(renewal, breaker));
    assertThat(breaker.health().usable()).isFalse();

    full.set(false);
    renewal.renewDue();
    assertThat(breaker.health().usable()).isTrue();
  }

  private static boolean opensAfterARefusal(CannedRedis redis, RedisBreaker breaker) {
    assertThatThrownBy(() -> breaker.write(0, () -> redis.set("purchase", "1")))
        .isInstanceOf(JedisDataException.class);
    return !breaker.health().usable();
  }

  private static boolean renewedAndClosed(LeaseRenewal renewal, RedisBreaker breaker) {
    renewal.renewDue();
    return breaker.isClosed(0);
  }

  @Test
  void renewsALeaseBeforeItEnds() {
    Duration duration = Duration.ofSeconds(4);
    List<Long> renewedNanos = new CopyOnWriteArrayList<>();
    CannedRedis redis =
        new CannedRedis(
            command -> {
              if (command.contains(RedisKeys.workers(1))) {
                renewedNanos.add(System.nanoTime());
              }
              return LEASED;
            });
    RedisBreaker breaker = RedisBreakers.of(redis, new SimpleMeterRegistry());
    try (WorkerLeases leases = new WorkerLeases(redis, breaker, duration)) {
      eventually("two renewals in less than three quarters of the lease")
          .until(() -> shortest(renewedNanos) < duration.multipliedBy(3).dividedBy(4).toNanos());
      eventually().until(() -> leases.of(1).worker() == 5);
    }
  }

  /** Shortest time between two of them; a slow machine makes some longer. */
  private static long shortest(List<Long> renewedNanos) {
    return IntStream.range(1, renewedNanos.size())
        .mapToLong(i -> renewedNanos.get(i) - renewedNanos.get(i - 1))
        .min()
        .orElse(Long.MAX_VALUE);
  }

  @Test
  void aClustersOtherPartitionsGetLeasesWhileOneIsNotAnswered() {
    CountDownLatch answers = new CountDownLatch(1);
    UnifiedJedis redis =
        CannedRedis.cluster(
            command -> {
              if (command.contains(RedisKeys.workers(0))) {
                Bounded.await(answers);
              }
              return LEASED;
            });
    RedisBreaker breaker = RedisBreakers.of(redis, new SimpleMeterRegistry());
    try (WorkerLeases leases = new WorkerLeases(redis, breaker, LONG)) {
      eventually()
          .until(() -> IntStream.range(1, Partition.COUNT).allMatch(p -> leases.nextId(p) != null));

      assertThat(leases.nextId(0)).isNull();
      answers.countDown();
      eventually().until(() -> leases.nextId(0) != null);
    }
  }

  private static LeaseRenewal renewal(CannedRedis redis) {
    return renewal(redis, INTERVAL);
  }

  private static LeaseRenewal renewal(CannedRedis redis, Duration interval) {
    return renewal(redis, RedisBreakers.of(redis, new SimpleMeterRegistry()), interval);
  }

  private static LeaseRenewal renewal(CannedRedis redis, RedisBreaker breaker, Duration interval) {
    List<WorkerLease> leases =
        IntStream.range(0, Partition.COUNT)
            .mapToObj(p -> new WorkerLease(redis, breaker, p, Clock.systemUTC(), LONG))
            .toList();
    return new LeaseRenewal(leases, interval);
  }
}
