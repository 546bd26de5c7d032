package io.seckill.gateway.stores;

import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The bounds of this gateway's blocking calls, one set per kind of work. */
@Configuration(proxyBeanMethods = false)
class StoreConfiguration {

  private static final int PREHEATS_AT_ONCE = 2;

  /** Short reads of Redis outside the purchase and status paths. */
  @Bean
  BlockingCalls redisCalls(StoreProperties settings) {
    return new BlockingCalls(
        "redis",
        "REDIS_UNAVAILABLE",
        settings.redisThreads(),
        settings.waiting(),
        settings.redisTimeout());
  }

  /** Reads of MySQL by key. */
  @Bean
  BlockingCalls mysqlCalls(StoreProperties settings) {
    return new BlockingCalls(
        "mysql",
        "MYSQL_UNAVAILABLE",
        settings.mysqlThreads(),
        settings.waiting(),
        settings.mysqlTimeout());
  }

  /** Operators' work that reads MySQL and writes Redis for seconds; few at once. */
  @Bean
  BlockingCalls preheatCalls(StoreProperties settings) {
    return new BlockingCalls(
        "preheat",
        "STORES_UNAVAILABLE",
        PREHEATS_AT_ONCE,
        settings.waiting(),
        Duration.ofMinutes(5));
  }
}
