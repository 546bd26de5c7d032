package io.seckill.gateway.backends;

import io.seckill.common.redis.RedisSettings;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.batching.RequestBatcherProperties;
import io.seckill.support.contract.OrderPayments;
import io.seckill.support.web.ProblemCode;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The bounds of this gateway's blocking calls, one set per kind of work. */
@Configuration(proxyBeanMethods = false)
class StoreConfiguration {

  /** A call takes about a millisecond, so four threads serve thousands of calls a second. */
  private static final int REDIS_THREADS = 4;

  /** Shoppers' lists; the connection pool in application.yml counts with them. */
  private static final int MYSQL_THREADS = 6;

  /** Calls that may wait for a thread, for each kind; further ones are refused at once. */
  private static final int WAITING = 256;

  /** Longest waits of callers, among them shoppers with an open page. */
  private static final Duration REDIS_TIMEOUT = Duration.ofSeconds(1);

  /** For a connection to Redis: a stop has given its thread back when its caller is answered. */
  private static final Duration MARGIN = Duration.ofMillis(100);

  private static final Duration MYSQL_TIMEOUT = Duration.ofSeconds(3);

  private static final int LOOK_UPS_AT_ONCE = 3;
  private static final int LOOK_UPS_IN_ONE_STATEMENT = 64;
  private static final int LOOK_UPS_WAITING = 10_000;

  /** As many as an order-consumer stores at once: others would wait there, and not gather here. */
  private static final int PAYMENT_CALLS_AT_ONCE = 1;

  /** A third of a second, at 64 in a call of 5 ms. */
  private static final int PAYMENTS_WAITING = 4_096;

  /** Reads by operators and probes are few; none of them may wait for a shopper's call. */
  private static final int OPERATORS_AT_ONCE = 3;

  /** Short reads of Redis for shoppers, outside the purchase, status and list paths. */
  @Bean
  BlockingCalls redisCalls() {
    return new BlockingCalls(
        "redis", ProblemCode.REDIS_UNAVAILABLE, REDIS_THREADS, WAITING, REDIS_TIMEOUT);
  }

  @Bean
  BlockingCalls operatorRedisCalls() {
    return new BlockingCalls(
        "operator-redis", ProblemCode.REDIS_UNAVAILABLE, OPERATORS_AT_ONCE, WAITING, REDIS_TIMEOUT);
  }

  /**
   * Stops of sales, with a thread for each shard: the calls of a frozen server, and reads of Redis
   * by others, keep no shard waiting that can be stopped. The threads end when they are idle.
   */
  @Bean
  BlockingCalls stopCalls(RedisSettings client) {
    return new BlockingCalls(
        "redis-stops", ProblemCode.REDIS_UNAVAILABLE, Shards.MOST, WAITING, stopTimeout(client));
  }

  /** Longer than the client's time-out, which an operator may have raised. */
  static Duration stopTimeout(RedisSettings client) {
    Duration timeout = client.socketTimeout().plus(MARGIN);
    return timeout.compareTo(REDIS_TIMEOUT) > 0 ? timeout : REDIS_TIMEOUT;
  }

  @Bean
  BlockingCalls operatorMysqlCalls() {
    return new BlockingCalls(
        "operator-mysql", ProblemCode.MYSQL_UNAVAILABLE, OPERATORS_AT_ONCE, WAITING, MYSQL_TIMEOUT);
  }

  /** Lookups in MySQL of orders that Redis cannot answer for, many with one statement. */
  @Bean
  RequestBatcherProperties lookUpBounds() {
    return new RequestBatcherProperties(
        LOOK_UPS_AT_ONCE,
        LOOK_UPS_AT_ONCE,
        LOOK_UPS_IN_ONE_STATEMENT,
        LOOK_UPS_WAITING,
        MYSQL_TIMEOUT,
        MYSQL_TIMEOUT);
  }

  /** Payments; one that waits for half of the time-out is not sent any more. */
  @Bean
  RequestBatcherProperties paymentBounds(ConsumerProperties consumer) {
    return new RequestBatcherProperties(
        PAYMENT_CALLS_AT_ONCE,
        PAYMENT_CALLS_AT_ONCE,
        OrderPayments.MAX_PAYMENTS,
        PAYMENTS_WAITING,
        consumer.timeout().dividedBy(2),
        consumer.timeout());
  }

  /** Shoppers' lists in MySQL. */
  @Bean
  BlockingCalls mysqlCalls() {
    return new BlockingCalls(
        "mysql", ProblemCode.MYSQL_UNAVAILABLE, MYSQL_THREADS, WAITING, MYSQL_TIMEOUT);
  }
}
