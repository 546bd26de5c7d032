package io.seckill.gateway.orders;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.redis.RedisSettings;
import io.seckill.common.redis.RedisSettings.Mode;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.testing.Bounded;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.Eventually;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

class RedisOrdersTest {

  @Test
  void waitsForRedisAsLongAsItsClientDoes() {
    assertThat(answerWithinMs(250)).as("as shipped").isEqualTo(300);
    assertThat(answerWithinMs(100)).isEqualTo(300);
    assertThat(answerWithinMs(2_000)).isEqualTo(2_050);
  }

  /** A call has keys of one node. */
  @Test
  void readsOrdersOfSeveralPartitionsOfAClusterInCallsOfTheirOwn() {
    List<String> keys = new CopyOnWriteArrayList<>();
    CountDownLatch answers = new CountDownLatch(1);
    UnifiedJedis redis =
        CannedRedis.cluster(
            command -> {
              keys.add(command.get(2)); // their number, of EVALSHA
              Bounded.await(answers);
              return new JedisDataException("ERR");
            });
    RedisOrders orders =
        new RedisOrders(
            redis,
            RedisBreakers.of(redis, new SimpleMeterRegistry()),
            (partition, server) -> true,
            16,
            1,
            Eventually.SOON);
    var first = orders.read(id(0), 7, 16L);
    eventually().until(() -> keys.size() == 1);
    var second = orders.read(id(1), 7, 17L);
    var third = orders.read(id(2), 7, 18L);

    answers.countDown();

    Stream.of(first, second, third).forEach(Bounded::get);
    assertThat(keys).as("one set, and one that never exists").containsExactly("2", "2", "2");
    orders.destroy();
  }

  private static OrderId id(int partition) {
    return OrderId.of(System.currentTimeMillis(), partition, 1, 0);
  }

  private static long answerWithinMs(long socketTimeoutMs) {
    Duration timeout = Duration.ofMillis(socketTimeoutMs);
    return RedisOrders.answerWithin(
            new RedisSettings(
                Mode.SINGLE, "redis://127.0.0.1:1", List.of(), null, 1, timeout, null))
        .toMillis();
  }
}
