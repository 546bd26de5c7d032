package io.seckill.consumer.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.CannedRedis;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;

class RedisBalanceItemsTest {

  private final List<Integer> failed = new ArrayList<>();

  @Test
  void readsTheOtherPartitionsWhileANodeOfAClusterIsAway() {
    RedisBalanceItems redis =
        new RedisBalanceItems(CannedRedis.cluster(RedisBalanceItemsTest::reply));

    assertThat(redis.read(List.of(0, 1, 2), (partition, cause) -> failed.add(partition)))
        .extracting(items -> items.lists().partition())
        .containsExactly(0, 2);

    assertThat(failed).containsExactly(1);
  }

  @Test
  void readsNoneWhileTheServerIsAway() {
    RedisBalanceItems redis = new RedisBalanceItems(new CannedRedis(RedisBalanceItemsTest::reply));

    assertThatThrownBy(
            () -> redis.read(List.of(0, 1, 2), (partition, cause) -> failed.add(partition)))
        .isInstanceOf(JedisConnectionException.class);

    assertThat(failed).isEmpty();
  }

  /** See {@link RedisKeys#absent}. */
  @Test
  void namesASecondKeyOfThePartition() {
    List<String> keys = new ArrayList<>();
    RedisBalanceItems redis =
        new RedisBalanceItems(
            new CannedRedis(
                command -> {
                  keys.addAll(CannedRedis.keysOf(command));
                  return reply(command);
                }));

    assertThat(redis.read(List.of(2), (partition, cause) -> failed.add(partition))).hasSize(1);

    assertThat(keys).containsExactly(RedisKeys.outbox(2), RedisKeys.absent(2));
  }

  private static Object reply(List<String> command) {
    if (command.contains(RedisKeys.outbox(1))) {
      throw new JedisConnectionException("away");
    }
    return List.of("0", 0L, "", 0L, 0L);
  }
}
