package io.seckill.gateway.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.gateway.backends.TestCalls;
import io.seckill.gateway.catalogue.TestProducts;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.CannedRedis;
import io.seckill.testing.Eventually;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** The list of a shopper without orders, while Redis may have orders. */
class OrderListsTest {

  @AutoClose("destroy")
  private final BlockingCalls calls = TestCalls.oneThread();

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void isCompleteUnlessMySqlDecidesForRedis(boolean inFallback) {
    assertThat(list(command -> List.of("1000", "1", "", "server"), inFallback).complete())
        .isEqualTo(!inFallback);
  }

  @Test
  void isShownWithoutRedisInAFallbackOnly() {
    assertThat(list(OrderListsTest::none, true).complete()).isFalse();
    assertThatThrownBy(() -> list(OrderListsTest::none, false))
        .isInstanceOf(ProblemException.class);
  }

  /** See {@link RedisKeys#absent}. */
  @Test
  void isReadWithASecondKeyOfEachPartition() {
    List<List<String>> keys = new CopyOnWriteArrayList<>();

    OrderLists.Page page =
        list(
            command -> {
              keys.add(CannedRedis.keysOf(command));
              return List.of("1000", "1", "", "server");
            },
            false);

    assertThat(page.complete()).isTrue();
    assertThat(keys)
        .isEqualTo(
            IntStream.range(0, Partition.COUNT)
                .mapToObj(p -> List.of(RedisKeys.skus(p), RedisKeys.absent(p)))
                .toList());
  }

  private static Object none(List<String> command) {
    throw new JedisConnectionException("for the test");
  }

  private OrderLists.Page list(Function<List<String>, Object> answer, boolean inFallback) {
    CannedRedis redis = new CannedRedis(answer);
    WaitingOrders waiting =
        new WaitingOrders(
            redis,
            RedisBreakers.of(redis, new SimpleMeterRegistry()),
            (partition, server) -> true,
            100,
            Eventually.SOON);
    StoredOrders stored =
        new StoredOrders(null) {
          @Override
          List<StoredOrder> ofUser(long userId, long before, int limit) {
            return List.of();
          }
        };
    try {
      return new OrderLists(waiting, stored, null, calls, TestProducts.read(inFallback))
          .page(1, Long.MAX_VALUE, 10)
          .block(Eventually.SOON);
    } finally {
      waiting.destroy();
    }
  }
}
