package io.seckill.consumer.loading;

import io.seckill.common.redis.AllowUnsafeRedis;
import io.seckill.consumer.products.Products;
import io.seckill.consumer.testing.TestConsumer;
import java.time.Duration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.UnifiedJedis;

/** Preheats as a process with other settings does, whose start would take seconds. */
public final class OtherPreheat {

  private OtherPreheat() {}

  public static Preheat of(TestConsumer consumer, int maxPerOrder, Duration retention) {
    return new Preheat(
        consumer.bean(Products.class),
        consumer.bean(InFlightCheck.class),
        consumer.bean(RedisSafety.class),
        consumer.bean(SaleLoader.class),
        new PreheatProperties(maxPerOrder, retention, AllowUnsafeRedis.TRUE),
        consumer.bean(JdbcClient.class),
        consumer.bean(TransactionOperations.class),
        consumer.bean(UnifiedJedis.class));
  }
}
