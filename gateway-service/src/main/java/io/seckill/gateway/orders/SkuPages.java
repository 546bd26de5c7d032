package io.seckill.gateway.orders;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.stores.BlockingCalls;
import io.seckill.gateway.web.Problem;
import io.seckill.gateway.web.ProblemException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import redis.clients.jedis.UnifiedJedis;

/**
 * What anyone may see of a SKU: its product from MySQL, its sale from Redis. Remembered for half a
 * second, so that a million shoppers looking at one page cost two reads of each store a second.
 */
@Component
final class SkuPages {

  private static final long REMEMBERED = 10_000;
  private static final long NEARLY_GONE = 10;
  private static final Duration FRESH = Duration.ofMillis(500);

  private final UnifiedJedis redis;
  private final JdbcClient mysql;
  private final BlockingCalls redisCalls;
  private final BlockingCalls mysqlCalls;
  private final AsyncCache<Long, Optional<SkuPage>> pages =
      Caffeine.newBuilder().expireAfterWrite(FRESH).maximumSize(REMEMBERED).buildAsync();

  SkuPages(
      UnifiedJedis redis,
      JdbcClient mysql,
      @Qualifier("redisCalls") BlockingCalls redisCalls,
      @Qualifier("mysqlCalls") BlockingCalls mysqlCalls) {
    this.redis = redis;
    this.mysql = mysql;
    this.redisCalls = redisCalls;
    this.mysqlCalls = mysqlCalls;
  }

  /** A row of products. */
  private record Row(
      String name,
      long priceCents,
      long stock,
      long initialStock,
      PurchasePolicy policy,
      int limitPerUser,
      Instant opensAt,
      Instant closesAt,
      String state) {}

  /**
   * The sale in Redis; absent values when there is none.
   *
   * @param stock units still admissible
   */
  private record Hot(@Nullable String state, @Nullable Long stock) {}

  private static final Hot NOT_IN_REDIS = new Hot(null, null);

  /** The page; 404 UNKNOWN_SKU when MySQL has no such product. */
  Mono<SkuPage> of(long skuId) {
    return Mono.fromFuture(() -> pages.get(skuId, (id, executor) -> read(id).toFuture()))
        .flatMap(
            page ->
                page.<Mono<SkuPage>>map(Mono::just)
                    .orElseGet(
                        () ->
                            Mono.error(
                                ProblemException.notFound(
                                    Problem.UNKNOWN_SKU, "There is no such product."))))
        .onErrorMap(java.util.concurrent.CompletionException.class, SkuPages::cause);
  }

  private static Throwable cause(java.util.concurrent.CompletionException e) {
    return e.getCause() == null ? e : e.getCause();
  }

  private Mono<Optional<SkuPage>> read(long skuId) {
    Mono<Optional<Row>> row = mysqlCalls.call(() -> row(skuId));
    return row.flatMap(
        product ->
            product.isEmpty()
                ? Mono.just(Optional.<SkuPage>empty())
                : redisCalls
                    .call(() -> hot(skuId))
                    .onErrorReturn(NOT_IN_REDIS)
                    .map(hot -> Optional.of(page(skuId, product.get(), hot))));
  }

  private static SkuPage page(long skuId, Row row, Hot hot) {
    long left = hot.stock() == null ? row.stock() : hot.stock();
    // Without Redis nothing is admitted, whatever MySQL says.
    boolean open = "OPEN".equals(hot.state()) && row.state().equals("OPEN");
    return new SkuPage(
        skuId,
        row.name(),
        row.priceCents(),
        row.policy(),
        row.limitPerUser(),
        row.opensAt(),
        row.closesAt(),
        row.state(),
        open,
        left <= 0,
        left > 0 && left <= row.initialStock() / NEARLY_GONE);
  }

  private Optional<Row> row(long skuId) {
    return mysql
        .sql(
            """
            SELECT name, price_cents, stock, initial_stock, policy, limit_per_user,
              opens_at, closes_at, state
            FROM products WHERE sku_id = ?
            """)
        .param(skuId)
        .query(
            (row, n) ->
                new Row(
                    row.getString(1),
                    row.getLong(2),
                    row.getLong(3),
                    row.getLong(4),
                    PurchasePolicy.valueOf(row.getString(5)),
                    row.getInt(6),
                    row.getObject(7, LocalDateTime.class).toInstant(ZoneOffset.UTC),
                    row.getObject(8, LocalDateTime.class).toInstant(ZoneOffset.UTC),
                    row.getString(9)))
        .optional();
  }

  private Hot hot(long skuId) {
    List<@Nullable String> state = redis.hmget(RedisKeys.sku(skuId), "state");
    String stock = redis.get(RedisKeys.stock(skuId));
    return new Hot(state.get(0), stock == null ? null : Long.valueOf(stock));
  }
}
