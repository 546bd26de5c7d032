package io.seckill.consumer.runtime;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker;
import io.github.resilience4j.circuitbreaker.CircuitBreakerConfig;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.breaker.Breakers;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisClients;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.stereotype.Component;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Prevents an unavailable or slow Redis from delaying the storing of orders: after a few failures
 * nothing is sent to Redis for a second. On a cluster each partition has a breaker of its own, so
 * that a primary that fails over affects only its own partitions. Thread-safe.
 */
@Component
public class RedisCallGuard {

  private static final Logger log = LoggerFactory.getLogger(RedisCallGuard.class);

  /**
   * Time without failures after which calls work again: where Redis refuses writes alone, reads
   * succeed between them, and the breaker lets one call through every second.
   */
  static final Duration CALM = Duration.ofSeconds(5);

  private final List<CircuitBreaker> breakers;

  /** When a call of each part failed last, until it works again; the first failure is logged. */
  private final Map<Integer, Long> failedNanos = new ConcurrentHashMap<>();

  private final LongSupplier nanoTime;

  @Autowired
  public RedisCallGuard(UnifiedJedis redis, MeterRegistry meters) {
    this(RedisClients.areApart(redis), meters, System::nanoTime);
  }

  /** {@code apart}: partitions may be on different servers. */
  RedisCallGuard(boolean apart, MeterRegistry meters, LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.breakers =
        apart
            ? IntStream.range(0, Partition.COUNT).mapToObj(p -> breaker("redis-" + p)).toList()
            : List.of(breaker("redis"));
    breakers.forEach(breaker -> Breakers.bind(breaker, meters));
  }

  private static CircuitBreaker breaker(String name) {
    return CircuitBreaker.of(name, config());
  }

  /** How many parts of Redis can be unavailable alone. */
  public int parts() {
    return breakers.size();
  }

  /** The part of Redis that has the data of a SKU, from 0. */
  public int partOf(long skuId) {
    return Partition.ofSku(skuId) % breakers.size();
  }

  static CircuitBreakerConfig config() {
    return Breakers.ofLastCalls(4, 2, Duration.ofSeconds(1), 1)
        .slowCallDurationThreshold(Duration.ofMillis(400))
        .slowCallRateThreshold(75)
        .recordException(JedisException.class::isInstance)
        .build();
  }

  /**
   * @param work calls this part of Redis and no other
   * @return false when Redis failed or was not called; the work may or may not have been done
   */
  public boolean run(int part, Runnable work) {
    try {
      breakers.get(part).executeRunnable(work);
      if (!failedNanos.isEmpty()) {
        logRecovery(part);
      }
      return true;
    } catch (CallNotPermittedException e) {
      return false;
    } catch (JedisException e) {
      if (failedNanos.put(part, nanoTime.getAsLong()) == null) {
        log.warn("calls to {} fail: {}", breakers.get(part).getName(), e.toString());
      }
      return false;
    } catch (Error e) { // the library would count its trial call as under way for good
      breakers.get(part).releasePermission();
      throw e;
    }
  }

  private void logRecovery(int part) {
    Long failed = failedNanos.get(part);
    if (failed != null
        && nanoTime.getAsLong() - failed > CALM.toNanos()
        && failedNanos.remove(part, failed)) {
      log.info("{} works again", breakers.get(part).getName());
    }
  }
}
