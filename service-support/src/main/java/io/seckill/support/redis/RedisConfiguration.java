package io.seckill.support.redis;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisNodes;
import io.seckill.common.redis.RedisSettings;
import io.seckill.common.sale.SaleStates;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import redis.clients.jedis.UnifiedJedis;

/** The service's Redis client, which has the service's name; connections open on first use. */
@Configuration(proxyBeanMethods = false)
@Import(RedisSettingsConfiguration.class)
public class RedisConfiguration {

  @Bean
  UnifiedJedis redis(RedisSettings settings, Environment environment) {
    return RedisClients.open(settings, name(environment));
  }

  @Bean
  RedisNodes redisNodes(RedisSettings settings, Environment environment) {
    return new RedisNodes(settings, name(environment));
  }

  private static String name(Environment environment) {
    return environment.getRequiredProperty("spring.application.name");
  }

  @Bean
  SaleStates saleStates(UnifiedJedis redis) {
    return new SaleStates(redis);
  }
}
