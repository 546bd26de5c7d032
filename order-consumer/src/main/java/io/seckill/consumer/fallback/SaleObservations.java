package io.seckill.consumer.fallback;

import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.fallback.FallbackSales.Expected;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * The admissions of Redis at the last look, which this process remembers while Redis is away. A
 * look also removes gateways that promise nothing any more, because it includes all that Redis
 * reported to them; of a sale that it does not include, orders stay unknown until a later look
 * does, or another epoch begins. {@link #round} is for one thread.
 */
@Component
class SaleObservations {

  /** A gateway stops 30 s after the last heartbeat that was answered. */
  private static final Duration SILENT = Duration.ofSeconds(35);

  /** Without a fallback no gateway is waited for. */
  private static final Duration SILENT_WITHOUT_FALLBACK = Duration.ofMinutes(1);

  private static final Duration RECENT = Duration.ofSeconds(3);

  private static final Duration PAUSE = Duration.ofSeconds(1);

  /** Only removes silent gateways. */
  private static final Duration PAUSE_WITHOUT_FALLBACK = Duration.ofSeconds(10);

  private final FallbackProperties settings;
  private final FallbackSales sales;
  private final AdmittedUnitsTable admissions;
  private final GatewayTable gateways;
  private final UnifiedJedis redis;
  private volatile Map<Long, RedisSaleState> looks = Map.of();
  private volatile @Nullable Long lookedNanos; // System.nanoTime of the last one

  SaleObservations(
      FallbackProperties settings,
      FallbackSales sales,
      AdmittedUnitsTable admissions,
      GatewayTable gateways,
      UnifiedJedis redis) {
    this.settings = settings;
    this.sales = sales;
    this.admissions = admissions;
    this.gateways = gateways;
    this.redis = redis;
  }

  Optional<RedisSaleState> of(long skuId) {
    return Optional.ofNullable(looks.get(skuId));
  }

  /** Whether this process has reached Redis within the last seconds, for all sales. */
  boolean isRedisReached() {
    Long last = lookedNanos;
    return last != null && System.nanoTime() - last <= RECENT.toNanos();
  }

  @Bean
  Sweeper fallbackObservationSweeper() {
    Duration pause = settings.fallback().isOn() ? PAUSE : PAUSE_WITHOUT_FALLBACK;
    return new Sweeper("fallback-observation", pause, this::round);
  }

  /** Throws JedisException when Redis does not answer: the last look stays. */
  void round() {
    gateways.boundTimes();
    String begun = gateways.now();
    if (!settings.fallback().isOn()) {
      forgetWithoutLook(begun);
      return;
    }
    Set<Long> withUnknownOrders = admissions.withUnknownOrders();
    List<Expected> expected = sales.ofRedis();
    Map<Long, RedisSaleState> seen = read(expected);
    looks = seen;
    lookedNanos = System.nanoTime();
    if (gateways.isOneSilent(SILENT, begun)) {
      expected.forEach(sale -> judge(sale, seen));
      sales.expectedInFallback().forEach(sale -> judge(sale, seen));
      gateways.forget(SILENT, begun);
    }
    expected.stream()
        .filter(sale -> withUnknownOrders.contains(sale.skuId()))
        .forEach(
            sale -> included(sale, seen).ifPresent(l -> admissions.allIsKnown(sale.skuId(), l)));
  }

  /** Another process may have the fallback on, or this one at its next start. */
  private void forgetWithoutLook(String now) {
    if (gateways.isOneSilent(SILENT_WITHOUT_FALLBACK, now)) {
      Stream.concat(sales.ofRedis().stream(), sales.expectedInFallback().stream())
          .forEach(sale -> admissions.moreIsUnknown(sale.skuId(), sale.epoch()));
      gateways.forget(SILENT_WITHOUT_FALLBACK, now);
    }
  }

  /**
   * Stores the observation of a sale: another process may need it. Redis may have come back with
   * older data, which lack orders that Redis reported to gateways.
   */
  private void judge(Expected sale, Map<Long, RedisSaleState> seen) {
    included(sale, seen)
        .ifPresentOrElse(
            look -> admissions.admitted(sale.skuId(), look.epoch(), look.admittedUnits()),
            () -> admissions.moreIsUnknown(sale.skuId(), sale.epoch()));
  }

  private static Optional<RedisSaleState> included(Expected sale, Map<Long, RedisSaleState> seen) {
    return Optional.ofNullable(seen.get(sale.skuId()))
        .filter(look -> !look.isBehind(sale.epoch(), sale.lastSeq(), sale.changeSeq()));
  }

  private Map<Long, RedisSaleState> read(List<Expected> expected) {
    Map<Long, Response<Map<String, String>>> answers = new HashMap<>();
    try (AbstractPipeline pipeline = redis.pipelined()) {
      // Also without sales: whether Redis answers.
      Response<String> any = pipeline.get(RedisKeys.stock(1));
      expected.forEach(
          sale -> answers.put(sale.skuId(), pipeline.hgetAll(RedisKeys.sku(sale.skuId()))));
      pipeline.sync();
      PipelineReplies.get(any);
    }
    Map<Long, RedisSaleState> seen = new HashMap<>();
    answers.forEach((sku, answer) -> look(answer).ifPresent(look -> seen.put(sku, look)));
    return Map.copyOf(seen);
  }

  /** Empty for a sale that has something else in the place of its rules. */
  private static Optional<RedisSaleState> look(Response<Map<String, String>> answer) {
    try {
      return Optional.of(new RedisSaleState(PipelineReplies.get(answer), null));
    } catch (JedisDataException e) {
      if (String.valueOf(e.getMessage()).startsWith("WRONGTYPE")) {
        return Optional.empty();
      }
      throw e;
    }
  }
}
