package io.seckill.gateway.orders;

import com.fasterxml.jackson.annotation.JsonFormat;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.stores.BlockingCalls;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;

/** What is or will be on sale, for anyone; remembered for a second. */
@RestController
final class SkuListController {

  private static final Duration FRESH = Duration.ofSeconds(1);

  private final JdbcClient mysql;
  private final UnifiedJedis redis;
  private final Mono<List<Listed>> skus;
  private final Clock clock = Clock.systemUTC();

  SkuListController(
      JdbcClient mysql,
      UnifiedJedis redis,
      @Qualifier("mysqlCalls") BlockingCalls mysqlCalls,
      @Qualifier("redisCalls") BlockingCalls redisCalls) {
    this.mysql = mysql;
    this.redis = redis;
    this.skus =
        mysqlCalls
            .call(this::read)
            .flatMap(list -> redisCalls.call(() -> withRedisStock(list)).onErrorReturn(list))
            .cache(list -> FRESH, failure -> Duration.ZERO, () -> Duration.ZERO);
  }

  /**
   * A product with its sale.
   *
   * @param soldOut whether no unit is left to be admitted; by MySQL's stock when Redis is away
   */
  record Listed(
      long skuId,
      String name,
      long priceCents,
      String state,
      boolean soldOut,
      @JsonFormat(shape = JsonFormat.Shape.STRING) Instant opensAt,
      @JsonFormat(shape = JsonFormat.Shape.STRING) Instant closesAt) {

    Listed withStock(long left) {
      return new Listed(skuId, name, priceCents, state, left <= 0, opensAt, closesAt);
    }
  }

  /** The products, soonest sale first, with the time for countdowns. */
  record Shown(
      List<Listed> skus, @JsonFormat(shape = JsonFormat.Shape.STRING) Instant serverTime) {}

  @GetMapping("/api/v1/skus")
  Mono<Shown> list() {
    return skus.map(list -> new Shown(list, clock.instant().truncatedTo(ChronoUnit.MILLIS)));
  }

  /** All stocks by one round trip. */
  private List<Listed> withRedisStock(List<Listed> listed) {
    List<Response<String>> stocks = new ArrayList<>(listed.size());
    try (AbstractPipeline pipeline = redis.pipelined()) {
      listed.forEach(sku -> stocks.add(pipeline.get(RedisKeys.stock(sku.skuId()))));
      pipeline.sync();
    }
    List<Listed> fresh = new ArrayList<>(listed.size());
    for (int i = 0; i < listed.size(); i++) {
      String left = PipelineReplies.get(stocks.get(i));
      fresh.add(left == null ? listed.get(i) : listed.get(i).withStock(Long.parseLong(left)));
    }
    return fresh;
  }

  private List<Listed> read() {
    return mysql
        .sql(
            """
            SELECT sku_id, name, price_cents, state, stock, opens_at, closes_at FROM products
            WHERE state IN ('PREHEATED', 'OPEN', 'PAUSED') AND closes_at > UTC_TIMESTAMP()
            ORDER BY opens_at, sku_id LIMIT 50
            """)
        .query(
            (row, n) ->
                new Listed(
                    row.getLong(1),
                    row.getString(2),
                    row.getLong(3),
                    row.getString(4),
                    row.getLong(5) <= 0,
                    row.getObject(6, LocalDateTime.class).toInstant(ZoneOffset.UTC),
                    row.getObject(7, LocalDateTime.class).toInstant(ZoneOffset.UTC)))
        .list();
  }
}
