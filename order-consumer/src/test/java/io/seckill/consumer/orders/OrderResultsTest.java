package io.seckill.consumer.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.testing.CannedRedis;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OrderResultsTest {

  private static final long SKU = 1_001;

  /** See {@link RedisKeys#absent}. */
  @Test
  void areWrittenWithASecondKey() {
    List<String> keys = new ArrayList<>();
    CannedRedis redis =
        new CannedRedis(
            command -> {
              keys.addAll(CannedRedis.keysOf(command));
              return 1L;
            });
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    OrderResults results = new OrderResults(redis, new RedisCallGuard(redis, meters), meters);

    assertThat(results.write(List.of(OrderResult.of(new OrderId(1), SKU, 7, OrderStatus.PAID))))
        .isTrue();

    assertThat(keys).containsExactly(RedisKeys.sku(SKU), RedisKeys.absent(Partition.ofSku(SKU)));
  }
}
