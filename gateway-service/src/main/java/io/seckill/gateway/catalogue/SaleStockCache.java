package io.seckill.gateway.catalogue;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/**
 * State and stock of sales in Redis, cached for half a second, so that a million shoppers on one
 * page cost two reads a second. While Redis does not answer, its last values are used for five
 * seconds.
 */
@Component
final class SaleStockCache {

  private static final long REMEMBERED = 10_000;
  private static final Duration FRESH = Duration.ofMillis(500);
  private static final Duration LONGEST_AGE = Duration.ofSeconds(5);

  private final UnifiedJedis redis;
  private final BlockingCalls calls;
  private final AsyncCache<Long, InRedis> fresh =
      Caffeine.newBuilder().expireAfterWrite(FRESH).maximumSize(REMEMBERED).buildAsync();
  private final Cache<Long, InRedis> last =
      Caffeine.newBuilder().expireAfterWrite(LONGEST_AGE).maximumSize(REMEMBERED).build();

  SaleStockCache(UnifiedJedis redis, @Qualifier("redisCalls") BlockingCalls calls) {
    this.redis = redis;
    this.calls = calls;
  }

  /**
   * A sale in Redis.
   *
   * @param state null when Redis has no such sale
   * @param stock units still admissible; null when Redis has no count
   */
  record InRedis(@Nullable String state, @Nullable Long stock) {}

  private record Asked(Response<List<String>> state, Response<String> stock) {}

  /**
   * Returns the sales of all these SKUs.
   *
   * @return fails with 503 when Redis has not answered for too long
   */
  Mono<Map<Long, InRedis>> of(Collection<Long> skus) {
    // Shared with other callers: one that cancels must not cancel it for them.
    return Mono.fromFuture(
            () -> fresh.getAll(skus, (missing, executor) -> read(missing).toFuture()), true)
        .onErrorMap(SaleStockCache::cause);
  }

  private static Throwable cause(Throwable failure) {
    Throwable cause = failure;
    while (!(cause instanceof ProblemException) && cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }

  private Mono<Map<Long, InRedis>> read(Set<? extends Long> skus) {
    return calls
        .call(() -> ask(skus))
        .doOnNext(last::putAll)
        .onErrorResume(ProblemException.class, failure -> lastOf(skus, failure));
  }

  private Mono<Map<Long, InRedis>> lastOf(Set<? extends Long> skus, ProblemException failure) {
    Map<Long, InRedis> known = last.getAllPresent(skus);
    return known.size() == skus.size() ? Mono.just(known) : Mono.error(failure);
  }

  /** Reads all SKUs in one round trip. */
  private Map<Long, InRedis> ask(Set<? extends Long> skus) {
    Map<Long, Asked> asked = new HashMap<>();
    try (AbstractPipeline pipeline = redis.pipelined()) {
      for (Long sku : skus) {
        asked.put(
            sku,
            new Asked(
                pipeline.hmget(RedisKeys.sku(sku), "state"), pipeline.get(RedisKeys.stock(sku))));
      }
      pipeline.sync();
    }
    Map<Long, InRedis> sales = new HashMap<>();
    asked.forEach((sku, replies) -> sales.put(sku, inRedis(replies)));
    return sales;
  }

  private static InRedis inRedis(Asked asked) {
    String stock = PipelineReplies.get(asked.stock());
    List<@Nullable String> state = PipelineReplies.get(asked.state());
    return new InRedis(state.get(0), stock == null ? null : Long.valueOf(stock));
  }
}
