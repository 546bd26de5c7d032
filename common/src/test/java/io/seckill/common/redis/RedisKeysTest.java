package io.seckill.common.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.Partition;
import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.util.JedisClusterCRC16;

class RedisKeysTest {

  @Test
  void spellsTheKeysOfTheContract() {
    assertThat(RedisKeys.sku(1001)).isEqualTo("seckill:{9}:sku:1001");
    assertThat(RedisKeys.stock(1001)).isEqualTo("seckill:{9}:stock:1001");
    assertThat(RedisKeys.bucket(1001, 4)).isEqualTo("seckill:{9}:bucket:1001:4");
    assertThat(RedisKeys.requestField(42, "key-0001")).isEqualTo("42:key-0001");
    assertThat(RedisKeys.quotaField(42)).isEqualTo("42:");
    assertThat(RedisKeys.compensationField(OrderId.parse("17"))).isEqualTo("compensated:17");
    assertThat(RedisKeys.stockChanges(1001)).isEqualTo("seckill:{9}:changes:1001");
    assertThat(RedisKeys.outbox(9)).isEqualTo("seckill:{9}:outbox");
    assertThat(RedisKeys.lanes(9)).isEqualTo("seckill:{9}:lanes");
    assertThat(RedisKeys.skus(9)).isEqualTo("seckill:{9}:skus");
    assertThat(RedisKeys.privateQueue(9, "r1:0:t")).isEqualTo("seckill:{9}:lane:r1:0:t");
  }

  /** facts.md 7: all keys of one script share a hash tag. */
  @Test
  void putsEveryKeyOfASkuIntoOneClusterSlot() {
    for (long sku = 1; sku < 100; sku++) {
      int partition = Partition.ofSku(sku);
      assertThat(
              List.of(
                  RedisKeys.sku(sku),
                  RedisKeys.stock(sku),
                  RedisKeys.bucket(sku, 3),
                  RedisKeys.stockChanges(sku),
                  RedisKeys.outbox(partition),
                  RedisKeys.absent(partition),
                  RedisKeys.lanes(partition),
                  RedisKeys.skus(partition),
                  RedisKeys.privateQueue(partition, "r:0:t")))
          .extracting(JedisClusterCRC16::getSlot)
          .containsOnly(JedisClusterCRC16.getSlot(RedisKeys.sku(sku)));
    }
  }

  @Test
  void keepsEveryUserInABucketOfTheSale() {
    assertThat(RedisKeys.bucketOf(Long.MAX_VALUE, 157)).isBetween(0, 156);
    assertThat(RedisKeys.bucketOf(1, 1)).isZero();
  }
}
