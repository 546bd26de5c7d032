package io.seckill.common.sale;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ShardsTest {

  @ParameterizedTest
  @ValueSource(longs = {1, 15, 16, 17, 1001, 1L << 32, (1L << 48) - 3, Shards.LARGEST_SKU})
  void anIdLeadsBackToItsSkuAndShardAndIsInAPartitionOfItsOwn(long sku) {
    Set<Integer> partitions = new HashSet<>();
    for (int shard = 0; shard < Shards.MOST; shard++) {
      long id = Shards.id(sku, shard);
      assertThat(id).isBetween(Shards.FIRST_ID, OrderMessage.MAX_SKU_ID - 16);
      assertThat(Shards.isShard(id)).isTrue();
      assertThat(Shards.sku(id)).isEqualTo(sku);
      assertThat(Shards.shard(id)).isEqualTo(shard);
      assertThat(Partition.ofSku(id)).isEqualTo((int) ((sku + shard) % Partition.COUNT));
      partitions.add(Partition.ofSku(id));
    }
    assertThat(partitions).hasSize(Partition.COUNT);
    assertThat(Shards.sku(sku)).isEqualTo(sku);
    assertThat(Shards.isShard(sku)).isFalse();
  }

  @Test
  void noTwoShardsHaveOneId() {
    long[] ids =
        LongStream.rangeClosed(1, 1_000)
            .flatMap(sku -> IntStream.range(0, 16).mapToLong(shard -> Shards.id(sku, shard)))
            .toArray();
    assertThat(ids).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @CsvSource({"0,0", "-1,0", "281474976710655,0", "4503599627370496,0", "1001,16", "1001,-1"})
  void refusesSkusAndShardsOutOfBounds(long sku, int shard) {
    assertThatThrownBy(() -> Shards.id(sku, shard)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void theSkuThatIsNeverOnSaleIsNoShard() {
    assertThat(Shards.isShard(OrderMessage.MAX_SKU_ID)).isFalse();
  }

  /** As MySQL computes it: SELECT CRC32('42') MOD 16. */
  @ParameterizedTest
  @CsvSource({
    "1,16,7",
    "42,16,8",
    "42,4,0",
    "1000000,16,13",
    "9223372036854775807,16,14",
    "7,1,0",
    "8,2,1"
  })
  void aShopperHasTheShardThatMySqlComputes(long user, int count, int shard) {
    assertThat(Shards.of(user, count)).isEqualTo(shard);
  }

  /** Users in sequence, of one residue class, and in milliseconds as Snowflake ids. */
  @ParameterizedTest
  @CsvSource({"1,1", "2,2", "16,16", "5,1000", "4503599627370496,4194304"})
  void spreadsUsersEvenly(long first, long step) {
    int[] users = new int[16];
    int each = 4_000;
    LongStream.range(0, 16L * each).forEach(n -> users[Shards.of(first + n * step, 16)]++);
    assertThat(Arrays.stream(users).boxed())
        .allSatisfy(count -> assertThat(count).isBetween(each * 19 / 20, each * 21 / 20));
  }

  @Test
  void oneShardIsTheSkuItself() {
    assertThat(Shards.purchased(1001, 42, 1)).isEqualTo(1001);
    assertThat(Shards.ids(1001, 1)).isEmpty();
    assertThat(Shards.purchased(1001, 42, 4)).isEqualTo(Shards.id(1001, Shards.of(42, 4)));
    assertThat(Shards.ids(1001, 16)).hasSize(16).isSorted();
  }

  @Test
  void countsArePowersOfTwoUpToSixteen() {
    assertThat(LongStream.rangeClosed(-16, 1_000).filter(Shards::isCount))
        .containsExactly(1L, 2L, 4L, 8L, 16L);
  }
}
