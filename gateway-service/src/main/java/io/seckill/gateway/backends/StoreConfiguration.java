package io.seckill.gateway.backends;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The bounds of this gateway's blocking calls, one set per kind of work. */
@Configuration(proxyBeanMethods = false)
class StoreConfiguration {

  private static final int LOOK_UPS_AT_ONCE = 3;

  /** Operators and probes are few; none of them may wait for a shopper's call. */
  private static final int OPERATORS_AT_ONCE = 3;

  /** Short reads of Redis for shoppers, outside the purchase, status and list paths. */
  @Bean
  BlockingCalls redisCalls(StoreProperties settings) {
    return new BlockingCalls(
        "redis",
        "REDIS_UNAVAILABLE",
        settings.redisThreads(),
        settings.waiting(),
        settings.redisTimeout());
  }

  /** Redis for probes and operators. */
  @Bean
  BlockingCalls operatorRedisCalls(StoreProperties settings) {
    return new BlockingCalls(
        "operator-redis",
        "REDIS_UNAVAILABLE",
        OPERATORS_AT_ONCE,
        settings.waiting(),
        settings.redisTimeout());
  }

  /** MySQL for probes and operators. */
  @Bean
  BlockingCalls operatorMysqlCalls(StoreProperties settings) {
    return new BlockingCalls(
        "operator-mysql",
        "MYSQL_UNAVAILABLE",
        OPERATORS_AT_ONCE,
        settings.waiting(),
        settings.mysqlTimeout());
  }

  /**
   * Lookups of orders that Redis cannot answer for, many with one statement; lists do not delay
   * them.
   */
  @Bean
  BlockingCalls lookUpCalls(StoreProperties settings) {
    return new BlockingCalls(
        "look-up",
        "MYSQL_UNAVAILABLE",
        LOOK_UPS_AT_ONCE,
        LOOK_UPS_AT_ONCE,
        settings.mysqlTimeout());
  }

  /** Shoppers' lists in MySQL. */
  @Bean
  BlockingCalls mysqlCalls(StoreProperties settings) {
    return new BlockingCalls(
        "mysql",
        "MYSQL_UNAVAILABLE",
        settings.mysqlThreads(),
        settings.waiting(),
        settings.mysqlTimeout());
  }
}
