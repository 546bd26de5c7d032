package io.seckill.gateway.ids;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.testing.CannedRedis;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisDataException;

class WorkerLeasesTest {

  private static final Duration LONG = Duration.ofHours(1);
  private static final Object LEASED = List.of("5", "0", "9000000000000", "1");

  @Test
  void restsUntilTheNextRenewalWhileEveryLeaseIsConfirmed() {
    CannedRedis redis = new CannedRedis(command -> LEASED);
    try (WorkerLeases leases = leases(redis)) {
      eventually().until(() -> redis.roundTrips() == Partition.COUNT);

      eventually().until(() -> leases.untilDue().compareTo(LONG.dividedBy(8)) > 0);
      assertThat(leases.untilDue()).isLessThanOrEqualTo(LONG.dividedBy(4));
      assertThat(redis.roundTrips()).isEqualTo(Partition.COUNT);
    }
  }

  @Test
  void looksOftenUntilTheLastLeaseIsConfirmed() {
    AtomicBoolean answers = new AtomicBoolean();
    CannedRedis redis =
        new CannedRedis(
            command ->
                answers.get() || !command.contains(RedisKeys.workers(0))
                    ? LEASED
                    : new JedisDataException("ERR of this partition"));
    try (WorkerLeases leases = leases(redis)) {
      eventually().until(() -> redis.roundTrips() > Partition.COUNT + 1);
      assertThat(leases.untilDue()).isEqualTo(WorkerLeases.TICK);

      answers.set(true);

      eventually().until(() -> leases.nextId(0) != null);
      eventually().until(() -> leases.untilDue().compareTo(LONG.dividedBy(8)) > 0);
    }
  }

  private static WorkerLeases leases(CannedRedis redis) {
    return new WorkerLeases(redis, RedisBreakers.of(redis, new SimpleMeterRegistry()), LONG);
  }
}
