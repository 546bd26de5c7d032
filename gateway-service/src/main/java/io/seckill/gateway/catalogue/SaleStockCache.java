package io.seckill.gateway.catalogue;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.SaleState;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.ArrayList;
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
 * seconds. Those of a strong sale, or of one that is closed, are its product's; Redis is not asked.
 */
@Component
final class SaleStockCache {

  private static final long REMEMBERED = 10_000;
  private static final Duration FRESH = Duration.ofMillis(500);
  private static final Duration LONGEST_AGE = Duration.ofSeconds(5);

  private final UnifiedJedis redis;
  private final BlockingCalls calls;
  private final AsyncCache<Long, SaleStock> fresh =
      Caffeine.newBuilder().expireAfterWrite(FRESH).maximumSize(REMEMBERED).buildAsync();
  private final Cache<Long, SaleStock> last =
      Caffeine.newBuilder().expireAfterWrite(LONGEST_AGE).maximumSize(REMEMBERED).build();

  SaleStockCache(UnifiedJedis redis, @Qualifier("redisCalls") BlockingCalls calls) {
    this.redis = redis;
    this.calls = calls;
  }

  /**
   * A sale as the store that decides it has it.
   *
   * @param state null when Redis has no such sale
   * @param stock units still on sale; null when Redis has no count
   */
  record SaleStock(@Nullable String state, @Nullable Long stock) {}

  private record Asked(Response<List<String>> state, Response<String> stock) {}

  /**
   * Returns the sales of all these products, by SKU.
   *
   * @return fails with 503 when one of them is in Redis, which has not answered for too long
   */
  Mono<Map<Long, SaleStock>> of(Collection<ProductRow> products) {
    Map<Long, SaleStock> strong = new HashMap<>();
    List<Long> inRedis = new ArrayList<>();
    for (ProductRow product : products) {
      if (!product.redisDecides() || product.state() == SaleState.CLOSED) {
        strong.put(product.skuId(), new SaleStock(product.state().name(), product.stock()));
      } else {
        inRedis.add(product.skuId());
      }
    }
    return inRedis.isEmpty()
        ? Mono.just(strong)
        : inRedis(inRedis).map(sales -> all(sales, strong));
  }

  private static Map<Long, SaleStock> all(
      Map<Long, SaleStock> inRedis, Map<Long, SaleStock> strong) {
    Map<Long, SaleStock> all = new HashMap<>(inRedis);
    all.putAll(strong);
    return all;
  }

  private Mono<Map<Long, SaleStock>> inRedis(Collection<Long> skus) {
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

  private Mono<Map<Long, SaleStock>> read(Set<? extends Long> skus) {
    return calls
        .call(() -> ask(skus))
        .doOnNext(last::putAll)
        .onErrorResume(ProblemException.class, failure -> lastOf(skus, failure));
  }

  private Mono<Map<Long, SaleStock>> lastOf(Set<? extends Long> skus, ProblemException failure) {
    Map<Long, SaleStock> known = last.getAllPresent(skus);
    return known.size() == skus.size() ? Mono.just(known) : Mono.error(failure);
  }

  /** Reads all SKUs in one round trip. */
  private Map<Long, SaleStock> ask(Set<? extends Long> skus) {
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
    Map<Long, SaleStock> sales = new HashMap<>();
    asked.forEach((sku, replies) -> sales.put(sku, saleStock(replies)));
    return sales;
  }

  private static SaleStock saleStock(Asked asked) {
    String stock = PipelineReplies.get(asked.stock());
    List<@Nullable String> state = PipelineReplies.get(asked.state());
    return new SaleStock(state.get(0), stock == null ? null : Long.valueOf(stock));
  }
}
