package io.seckill.consumer.fallback;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.products.ReplicationId;
import io.seckill.consumer.runtime.Sweeper;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

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
  private final ClockJumps jumps = new ClockJumps(System::nanoTime);
  private volatile Map<Long, RedisSaleState> looks = Map.of();
  private volatile @Nullable Long lookedNanos; // System.nanoTime of the last answer

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

  /**
   * A sale as Redis has it.
   *
   * @param server replication id of the server that answered
   */
  private record SaleLook(RedisSaleState sale, String server) {}

  Optional<RedisSaleState> of(long skuId) {
    return Optional.ofNullable(looks.get(skuId));
  }

  /** Whether this process has reached Redis, or a node of it, within the last seconds. */
  boolean isRedisReached() {
    Long last = lookedNanos;
    return last != null && System.nanoTime() - last <= RECENT.toNanos();
  }

  @Bean
  Sweeper fallbackObservationSweeper() {
    Duration pause = settings.fallback().isOn() ? PAUSE : PAUSE_WITHOUT_FALLBACK;
    return new Sweeper("fallback-observation", pause, this::round);
  }

  /**
   * @throws JedisException when a node of Redis does not answer, after all is done for the sales of
   *     the others; nothing is when none answers
   */
  void round() {
    gateways.boundTimes();
    Instant begun = gateways.now();
    boolean isOn = settings.fallback().isOn();
    boolean isSteady = jumps.noneWithin(isOn ? SILENT : SILENT_WITHOUT_FALLBACK, begun);
    if (!isOn) {
      if (isSteady) {
        forgetWithoutLook(begun);
      }
      return;
    }
    Set<Long> withUnknownOrders = admissions.withUnknownOrders();
    List<ExpectedSale> expected = sales.ofRedis();
    Map<Long, SaleLook> seen = new HashMap<>();
    JedisException failure = readAll(expected, seen);
    if (isSteady && gateways.isOneSilent(SILENT, begun)) {
      expected.forEach(sale -> judge(sale, seen));
      sales.expectedInFallback().forEach(sale -> judge(sale, seen));
      gateways.forget(SILENT, begun);
    }
    expected.stream()
        .filter(sale -> withUnknownOrders.contains(sale.id()))
        .forEach(sale -> included(sale, seen).ifPresent(l -> admissions.allIsKnown(sale.id(), l)));
    if (failure != null) {
      throw failure;
    }
  }

  /** Another process may have the fallback on, or this one at its next start. */
  private void forgetWithoutLook(Instant now) {
    if (gateways.isOneSilent(SILENT_WITHOUT_FALLBACK, now)) {
      Stream.concat(sales.ofRedis().stream(), sales.expectedInFallback().stream())
          .forEach(sale -> admissions.moreIsUnknown(sale.id(), sale.epoch()));
      gateways.forget(SILENT_WITHOUT_FALLBACK, now);
    }
  }

  /**
   * Stores the observation of a sale: another process may need it. Redis may have come back with
   * older data, which lack orders that Redis reported to gateways.
   */
  private void judge(ExpectedSale sale, Map<Long, SaleLook> seen) {
    included(sale, seen)
        .ifPresentOrElse(
            look -> admissions.admitted(sale.id(), look.epoch(), look.admittedUnits()),
            () -> admissions.moreIsUnknown(sale.id(), sale.epoch()));
  }

  /** While MySQL may lack what was published before this server, its data prove nothing. */
  private static Optional<RedisSaleState> included(ExpectedSale sale, Map<Long, SaleLook> seen) {
    return Optional.ofNullable(seen.get(sale.id()))
        .filter(look -> sale.server().isEmpty() || sale.server().equals(look.server()))
        .map(SaleLook::sale)
        .filter(look -> !look.isBehind(sale.epoch(), sale.lastSeq(), sale.changeSeq()));
  }

  /**
   * Adds the sales of all nodes that answer; of another node the last look stays. Returns the
   * failure of a node, null when all have answered.
   *
   * @throws JedisException when none has
   */
  private @Nullable JedisException readAll(List<ExpectedSale> expected, Map<Long, SaleLook> seen) {
    int parts = RedisClients.areApart(redis) ? Partition.COUNT : 1;
    Map<Integer, List<Long>> byPart =
        expected.stream()
            .map(ExpectedSale::id)
            .collect(Collectors.groupingBy(sku -> Partition.ofSku(sku) % parts));
    Map<Long, RedisSaleState> last = new HashMap<>();
    @Nullable JedisException failure = null;
    boolean isReached = false;
    for (int part = 0; part < parts; part++) {
      List<Long> skus = byPart.getOrDefault(part, List.of());
      try {
        seen.putAll(read(part, skus));
        lookedNanos = System.nanoTime();
        isReached = true;
      } catch (JedisException e) {
        failure = e;
        skus.forEach(sku -> of(sku).ifPresent(look -> last.put(sku, look)));
      }
    }
    if (!isReached && failure != null) {
      throw failure;
    }
    seen.forEach((sku, look) -> last.put(sku, look.sale()));
    looks = Map.copyOf(last);
    return failure;
  }

  /** Also without sales: whether Redis answers. */
  private Map<Long, SaleLook> read(int part, List<Long> skus) {
    List<String> keys = ReplicationId.keys(part);
    Response<Object> id;
    Map<Long, Response<Map<String, String>>> answers = new HashMap<>();
    try (AbstractPipeline pipeline = redis.pipelined()) {
      id = ReplicationId.SCRIPT.queue(pipeline, keys, List.of());
      skus.forEach(sku -> answers.put(sku, pipeline.hgetAll(RedisKeys.sku(sku))));
      pipeline.sync();
    }
    String server = (String) ReplicationId.SCRIPT.answer(id, redis, keys, List.of());
    Map<Long, SaleLook> seen = new HashMap<>();
    answers.forEach(
        (sku, answer) -> look(answer).ifPresent(sale -> seen.put(sku, new SaleLook(sale, server))));
    return seen;
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
