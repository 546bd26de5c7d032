package io.seckill.consumer.redis;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.common.sale.SaleStates;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import redis.clients.jedis.UnifiedJedis;

/** Creates the Redis client from {@code seckill.redis.*}; connections open on first use. */
@Configuration(proxyBeanMethods = false)
class RedisConfiguration {

  @Bean
  RedisSettings redisSettings(Environment environment) {
    return Binder.get(environment).bindOrCreate("seckill.redis", RedisSettings.class);
  }

  @Bean(destroyMethod = "close")
  UnifiedJedis redis(RedisSettings settings) {
    return RedisClients.open(settings, "order-consumer");
  }

  @Bean
  SaleStates saleStates(UnifiedJedis redis) {
    return new SaleStates(redis);
  }
}
