package io.seckill.consumer.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.testing.CannedRedis;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Redis confirms the units of one order alone. */
class CompensationsTest {

  private static final long SKU = 1_001;
  private static final OrderId CONFIRMED = new OrderId(102);

  private final List<List<String>> keys = new ArrayList<>();
  private final List<OrderId> done = new ArrayList<>();

  @Test
  void marksThoseDoneThatRedisHasConfirmed() {
    deliver(new OrderId(101), CONFIRMED, new OrderId(103));

    assertThat(done).containsExactly(CONFIRMED);
  }

  /** See {@link RedisKeys#absent}. */
  @Test
  void areDeliveredWithASecondKey() {
    deliver(CONFIRMED);

    assertThat(keys)
        .containsExactly(List.of(RedisKeys.sku(SKU), RedisKeys.absent(Partition.ofSku(SKU))));
  }

  private void deliver(OrderId... orders) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    CannedRedis redis = new CannedRedis(this::reply);
    CompensationTable table =
        new CompensationTable(null) {
          @Override
          void markDone(Collection<OrderId> settled) {
            done.addAll(settled);
          }
        };
    Compensations compensations =
        new Compensations(table, null, redis, new RedisCallGuard(redis, meters), meters);

    assertThat(
            compensations.deliver(
                Stream.of(orders)
                    .map(order -> new Compensation(order, SKU, 7, 1, 1, 1, "key-0001"))
                    .toList()))
        .isTrue();
  }

  private Object reply(List<String> command) {
    keys.add(CannedRedis.keysOf(command));
    return command.contains(CONFIRMED.toString()) ? 1L : -1L;
  }
}
