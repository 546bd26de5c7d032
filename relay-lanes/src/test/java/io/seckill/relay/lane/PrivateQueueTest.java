package io.seckill.relay.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.OrderMessages;
import io.seckill.common.redis.RedisKeys;
import io.seckill.relay.publish.OutboundOrder;
import io.seckill.testing.CannedRedis;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PrivateQueueTest {

  /** The hash of another partition's SKU lies in another slot, which a script may not write. */
  @ParameterizedTest
  @CsvSource({"1600, true", "1601, false"})
  void countsConfirmedOrdersOfItsPartitionOnly(long sku, boolean counted) throws Exception {
    List<String> settled = new ArrayList<>();
    CannedRedis redis =
        new CannedRedis(
            command -> {
              settled.addAll(command);
              return List.of(0L);
            });

    new PrivateQueue(redis, 0, "me:0:aa").settleAndClaim(List.of(order(sku)), 0, Duration.ZERO);

    assertThat(settled.contains(RedisKeys.sku(sku))).isEqualTo(counted);
  }

  private static OutboundOrder order(long sku) {
    String message = OrderMessageCodec.encode(OrderMessages.of(sku, 1));
    return OutboundOrder.of(message.getBytes(StandardCharsets.UTF_8), 0);
  }
}
