package io.seckill.gateway.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.gateway.backends.RedisBreakers;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;

/** The set of a partition's SKUs may contain SKUs whose sale has expired. */
@ExtendWith(TestServers.class)
class SalesThatAreGoneIT {

  private static final int PARTITION = 9;
  private static final long USER = 7;

  /**
   * In partition 9, and above the ids of a hundred SKUs of it: Redis returns a set of integers in
   * ascending order.
   */
  private static final long SKU = 16_000 + PARTITION;

  private UnifiedJedis redis;

  @BeforeEach
  void connect(RedisServer server) {
    redis = RedisClients.open(RedisSettings.single(server.newDatabase().url()), "test");
    for (int gone = 0; gone < 100; gone++) {
      redis.sadd(RedisKeys.skus(PARTITION), Integer.toString(16 * gone + PARTITION));
    }
  }

  @AfterEach
  void disconnect() {
    redis.close();
  }

  @Test
  void doNotCountWhenAShoppersWaitingOrdersAreListed() {
    OrderId order = waitingOrder();
    WaitingOrders orders = new WaitingOrders(redis, RedisBreakers.of(redis, meters()), settings());
    try {
      assertThat(orders.of(USER).orTimeout(60, TimeUnit.SECONDS).join())
          .extracting(RedisOrder::id)
          .containsExactly(order);
    } finally {
      orders.destroy();
    }
  }

  private OrderId waitingOrder() {
    OrderId id = OrderId.of(System.currentTimeMillis(), PARTITION, 1, 1);
    redis.sadd(RedisKeys.skus(PARTITION), Long.toString(SKU));
    redis.hset(RedisKeys.sku(SKU), Map.of("bucketCount", "1", "settled", "0"));
    AdmissionRecord record =
        new AdmissionRecord(
            USER, "key-0001", 1, 1, id.timeMs(), 1, OrderStatus.QUEUED, null, id.timeMs(), null);
    redis.hset(RedisKeys.bucket(SKU, 0), id.toString(), record.format());
    return id;
  }

  private static SimpleMeterRegistry meters() {
    return new SimpleMeterRegistry();
  }

  private static OrderProperties settings() {
    return new OrderProperties(16, 0);
  }
}
