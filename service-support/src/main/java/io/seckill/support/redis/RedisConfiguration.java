package io.seckill.support.redis;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisNodes;
import io.seckill.common.redis.RedisSettings;
import io.seckill.common.sale.SaleStates;
import io.seckill.support.thread.RepeatingTask;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

/** The service's Redis client, which has the service's name; connections open on first use. */
@Configuration(proxyBeanMethods = false)
@Import(RedisSettingsConfiguration.class)
public class RedisConfiguration {

  private static final Duration SLOT_REFRESH = Duration.ofSeconds(1);

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

  /**
   * Follows a failover of a Redis Cluster. Jedis by itself asks again for the nodes after a
   * redirection or a second failure in a row; a pipeline never does, and the time-out of a silent
   * node leaves a command no time for a second attempt.
   */
  @Bean
  AutoCloseable slotRefresh(UnifiedJedis redis) {
    return redis instanceof RedisClusterClient cluster
        ? new RepeatingTask("redis-slots", SLOT_REFRESH, cluster::refreshClusterTopology)
        : () -> {};
  }

  @Bean
  SaleStates saleStates(UnifiedJedis redis) {
    return new SaleStates(redis);
  }
}
