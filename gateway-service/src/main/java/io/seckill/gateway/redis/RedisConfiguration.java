package io.seckill.gateway.redis;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.common.sale.SaleStates;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import redis.clients.jedis.UnifiedJedis;

/** The gateway's Redis client; its connections open on first use. */
@Configuration(proxyBeanMethods = false)
class RedisConfiguration {

  /** The record belongs to the common module, which does not use Spring, so it is bound here. */
  @Bean
  RedisSettings redisSettings(Environment environment) {
    return Binder.get(environment).bindOrCreate("seckill.redis", RedisSettings.class);
  }

  @Bean
  UnifiedJedis redis(RedisSettings settings) {
    return RedisClients.open(settings, "gateway");
  }

  @Bean
  SaleStates saleStates(UnifiedJedis redis) {
    return new SaleStates(redis);
  }

  @Bean
  RedisBreaker redisBreaker(UnifiedJedis redis, BreakerProperties settings, MeterRegistry meters) {
    return new RedisBreaker(redis, settings, meters);
  }
}
