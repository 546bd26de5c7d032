package io.seckill.consumer.fallback;

import java.time.Duration;
import java.util.Optional;

/** Loads a sale that is in a fallback from MySQL into Redis. */
public interface SaleReturn {

  /**
   * Loads a sale that is in a fallback into Redis, which decides it from then on.
   *
   * @param atMost longest wait for the orders in flight
   * @return empty when it is done, else why it is to be tried again
   * @throws redis.clients.jedis.exceptions.JedisException when Redis is unavailable
   */
  Optional<String> returnToRedis(long skuId, Duration atMost);
}
