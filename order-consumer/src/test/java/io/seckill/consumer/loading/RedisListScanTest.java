package io.seckill.consumer.loading;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.CannedRedis;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RedisListScanTest {

  private static final long SKU = 7;
  private static final String LANE = "a-relay:0:1";

  /** An order that is taken meanwhile moves towards the reader. */
  @Test
  void readsTheOutboxFirst() {
    List<String> read = new ArrayList<>();
    CannedRedis redis =
        new CannedRedis(
            command -> {
              read.add(command.get(1));
              return command.get(0).equals("ZRANGE") ? List.of(LANE) : List.of();
            });

    assertThat(new RedisListScan(redis).hasNone(SKU)).isTrue();

    int partition = Partition.ofSku(SKU);
    assertThat(read)
        .containsExactly(
            RedisKeys.outbox(partition),
            RedisKeys.lanes(partition),
            RedisKeys.privateQueue(partition, LANE));
  }
}
