package io.seckill.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderMessages;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class LanesIT {

  private static final int PARTITION = 5;

  private final UnifiedJedis redis = TestServers.redis().newDatabase().open();
  private final LaneRegistry registry = new LaneRegistry(redis);

  @AfterEach
  void close() {
    redis.close();
  }

  @Test
  void tellsLivingLapsedAndDeadLanesWithWhatTheyHold() {
    String lanes = RedisKeys.lanes(PARTITION);
    redis.zadd(lanes, -1_790_000_000_000.0, "one-relay:0:first");
    redis.zadd(lanes, 1_000, "one-relay:1:second");
    redis.zadd(lanes, System.currentTimeMillis() + 250_000.0, "two.relay:0:third");
    redis.zadd(lanes, System.currentTimeMillis() + 3_600_000.0, "two.relay:1:before-a-clock-jump");
    redis.lpush(RedisKeys.privateQueue(PARTITION, "one-relay:0:first"), "a", "b");

    List<Lanes.Lane> found = registry.read().lanes();

    assertThat(found)
        .extracting(Lanes.Lane::relay, Lanes.Lane::lane, Lanes.Lane::token, Lanes.Lane::state)
        .containsExactly(
            org.assertj.core.groups.Tuple.tuple("two.relay", 0, "third", Lanes.LeaseState.ALIVE),
            org.assertj.core.groups.Tuple.tuple("one-relay", 1, "second", Lanes.LeaseState.LAPSED),
            org.assertj.core.groups.Tuple.tuple(
                "two.relay", 1, "before-a-clock-jump", Lanes.LeaseState.LAPSED),
            org.assertj.core.groups.Tuple.tuple("one-relay", 0, "first", Lanes.LeaseState.DEAD));
    assertThat(found).extracting(Lanes.Lane::privateQueue).containsExactly(0L, 0L, 0L, 2L);
    assertThat(found).allMatch(lane -> lane.partition() == PARTITION);
    assertThat(found.get(0).leaseLeftMs()).isPositive();
    assertThat(found.get(1).leaseLeftMs()).isNegative();
  }

  @Test
  void doesNotTakeALaneOfAGatewayForOneThatDrainsTheOutbox() {
    String lanes = RedisKeys.lanes(PARTITION);
    redis.zadd(lanes, System.currentTimeMillis() + 250_000.0, "gateway@one:5:first");
    assertThat(registry.read().lanes())
        .extracting(Lanes.Lane::relay)
        .containsExactly("gateway@one");
    assertThat(registry.read().anyAlive()).isFalse();

    redis.zadd(lanes, System.currentTimeMillis() + 250_000.0, "one-relay:5:second");
    assertThat(registry.read().anyAlive()).isTrue();
  }

  @Test
  void tellsHowLongTheOldestOrderOfAnOutboxHasWaited() {
    long now = System.currentTimeMillis();
    redis.lpush(RedisKeys.outbox(PARTITION), order(1, now - 60_000), order(2, now));

    Lanes.Outbox outbox = registry.read().outboxes().get(PARTITION);

    assertThat(outbox.orders()).isEqualTo(2);
    assertThat(outbox.oldestMs()).isBetween(60_000L, 90_000L);
    assertThat(registry.read().outboxes())
        .filteredOn(other -> other.partition() != PARTITION)
        .hasSize(15)
        .allMatch(other -> other.orders() == 0 && other.oldestMs() == 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"maxmemory", "min-replicas-to-write"})
  void tellsWhetherRedisTakesWritesAndWritesNothing(String setting) {
    try (RedisServer server = RedisServer.start();
        UnifiedJedis own = server.open()) {
      LaneRegistry ofOwn = new LaneRegistry(own);

      own.configSet(setting, "1");
      assertThat(ofOwn.read().refusing()).hasSize(Partition.COUNT);
      assertThat(ofOwn.read().unavailable()).isEmpty();

      own.configSet(setting, "0");
      assertThat(ofOwn.read().refusing()).isEmpty();
      assertThat(own.dbSize()).isZero();
    }
  }

  private static String order(int number, long admittedAt) {
    return OrderMessageCodec.encode(OrderMessages.of(5, number, admittedAt));
  }
}
