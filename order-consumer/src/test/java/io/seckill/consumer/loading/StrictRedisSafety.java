package io.seckill.consumer.loading;

import io.seckill.common.redis.AllowUnsafeRedis;
import io.seckill.common.redis.RedisNodes;
import io.seckill.consumer.testing.TestConsumer;

/** The check of Redis as it is shipped; the consumers of the tests allow their unsafe Redis. */
public final class StrictRedisSafety {

  private StrictRedisSafety() {}

  public static RedisSafety of(TestConsumer consumer) {
    PreheatProperties settings = consumer.bean(PreheatProperties.class);
    return new RedisSafety(
        consumer.bean(RedisNodes.class),
        new PreheatProperties(
            settings.maxPerOrder(), settings.retention(), AllowUnsafeRedis.FALSE));
  }
}
