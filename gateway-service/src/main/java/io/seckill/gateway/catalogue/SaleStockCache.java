package io.seckill.gateway.catalogue;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.redis.PipelineReplies;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.logging.ThrottledLog;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import redis.clients.jedis.AbstractPipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * State and stock of sales in Redis, cached for half a second, so that a million shoppers on one
 * page cost two reads a second. While Redis, or the sale's node of a cluster, does not answer, its
 * last values are used for five seconds. Those of a strong sale, or of one that is closed, are its
 * product's; Redis is not asked.
 */
@Component
final class SaleStockCache {

  private static final long REMEMBERED = 10_000;
  private static final Duration FRESH = Duration.ofMillis(500);
  private static final Duration LONGEST_AGE = Duration.ofSeconds(5);

  private final ThrottledLog failures =
      new ThrottledLog(LoggerFactory.getLogger(SaleStockCache.class));
  private final UnifiedJedis redis;
  private final BlockingCalls calls;
  private final ProductCache products;
  private final AsyncCache<Long, InRedis> fresh =
      Caffeine.newBuilder().expireAfterWrite(FRESH).maximumSize(REMEMBERED).buildAsync();
  private final Cache<Long, InRedis> last =
      Caffeine.newBuilder().expireAfterWrite(LONGEST_AGE).maximumSize(REMEMBERED).build();

  SaleStockCache(
      UnifiedJedis redis, @Qualifier("redisCalls") BlockingCalls calls, ProductCache products) {
    this.redis = redis;
    this.calls = calls;
    this.products = products;
  }

  /**
   * A sale as the store that decides it has it.
   *
   * @param state null when Redis has no such sale
   * @param stock units still on sale; null when Redis has no count, MySQL then has one
   */
  record SaleStock(@Nullable String state, @Nullable Long stock) {

    /**
     * The state that shoppers are shown: MySQL's, or a stop that Redis obeys and MySQL does not
     * have yet.
     */
    SaleState stateOf(ProductRow product) {
      boolean running = product.state().isRunning();
      if (running && "CLOSED".equals(state)) {
        return SaleState.CLOSED;
      }
      return running && "PAUSED".equals(state) ? SaleState.PAUSED : product.state();
    }
  }

  /**
   * A sale in Redis, of a SKU or of a shard.
   *
   * @param elsewhere units of the SKU outside this shard when order-consumer last counted them; -1
   *     when that is not known, 0 for a SKU without shards
   * @param epoch 0 while it is being loaded
   */
  record InRedis(@Nullable String state, @Nullable Long stock, long elsewhere, long epoch) {

    private static final InRedis UNREAD = new InRedis(null, null, -1, 0);

    /**
     * The sale, without data of an older epoch than MySQL's, as Redis has them after a loss:
     * admit.lua sells nothing from these either.
     */
    InRedis ofEpoch(long epochInMySql) {
      return epoch < epochInMySql ? UNREAD : this;
    }

    /**
     * The sale of a SKU, from those of its shards that could be read. Empty shards have a count
     * only while all of them say how many units are elsewhere: these may be in the pool, or in a
     * shard that cannot be read.
     */
    static SaleStock whole(List<@Nullable InRedis> found) {
      List<InRedis> shards =
          found.stream().map(shard -> Objects.requireNonNullElse(shard, UNREAD)).toList();
      String state = null;
      for (InRedis shard : shards) {
        state = "OPEN".equals(shard.state) || state == null ? shard.state : state;
      }
      List<InRedis> read = shards.stream().filter(shard -> shard.stock != null).toList();
      long units = read.stream().mapToLong(shard -> Objects.requireNonNull(shard.stock)).sum();
      if (read.isEmpty() || units > 0) {
        return new SaleStock(state, read.isEmpty() ? null : Long.valueOf(units));
      }
      boolean known = read.stream().allMatch(shard -> shard.elsewhere >= 0);
      long elsewhere = read.stream().mapToLong(InRedis::elsewhere).max().orElse(0);
      return new SaleStock(state, known ? Long.valueOf(elsewhere) : null);
    }
  }

  private record Asked(Response<List<String>> hash, Response<String> stock) {}

  /**
   * Returns the sales of these products, by SKU, without those about which Redis has not answered
   * for too long.
   */
  Mono<Map<Long, SaleStock>> of(Collection<ProductRow> products) {
    Map<Long, SaleStock> strong = new HashMap<>();
    Map<Long, List<Long>> inRedis = new HashMap<>();
    for (ProductRow product : products) {
      if (product.decides() == Decider.MYSQL || product.state() == SaleState.CLOSED) {
        strong.put(product.skuId(), new SaleStock(product.state().name(), product.stock()));
      } else {
        inRedis.put(product.skuId(), keysOf(product));
      }
    }
    return inRedis.isEmpty()
        ? Mono.just(strong)
        : inRedis(inRedis.values().stream().flatMap(List::stream).toList())
            .map(sales -> all(inRedis, sales, strong));
  }

  /** The ids that Redis has the product under. */
  private static List<Long> keysOf(ProductRow product) {
    return product.shards() == 1 || product.state() == SaleState.NEW
        ? List.of(product.skuId())
        : Shards.ids(product.skuId(), product.shards());
  }

  private Map<Long, SaleStock> all(
      Map<Long, List<Long>> inRedis, Map<Long, InRedis> sales, Map<Long, SaleStock> strong) {
    Map<Long, SaleStock> all = new HashMap<>(strong);
    inRedis.forEach(
        (sku, ids) -> {
          if (ids.stream().anyMatch(sales::containsKey)) {
            all.put(
                sku,
                InRedis.whole(
                    ids.stream().<@Nullable InRedis>map(id -> latest(id, sales.get(id))).toList()));
          }
        });
    return all;
  }

  private @Nullable InRedis latest(long id, @Nullable InRedis sale) {
    ProductRow row = products.lastRead(id); // each shard has an epoch of its own
    return sale == null || row == null ? sale : sale.ofEpoch(row.epoch());
  }

  private Mono<Map<Long, InRedis>> inRedis(Collection<Long> ids) {
    // Shared with other callers: one that cancels must not cancel it for them.
    return Mono.fromFuture(
        () -> fresh.getAll(ids, (missing, executor) -> read(missing).toFuture()), true);
  }

  private Mono<Map<Long, InRedis>> read(Set<? extends Long> ids) {
    return calls
        .call(() -> ask(ids))
        .onErrorReturn(ProblemException.class, Map.of())
        .map(
            answered -> {
              last.putAll(answered);
              Map<Long, InRedis> known = new HashMap<>(last.getAllPresent(ids));
              known.putAll(answered);
              return known;
            });
  }

  /** Reads all sales in one round trip; without those of nodes that do not answer. */
  private Map<Long, InRedis> ask(Set<? extends Long> ids) {
    Map<Long, Asked> asked = new HashMap<>();
    try (AbstractPipeline pipeline = redis.pipelined()) {
      for (Long id : ids) {
        unlessItsNodeIsAway(() -> asked.put(id, asked(pipeline, id)));
      }
      pipeline.sync();
    }
    Map<Long, InRedis> sales = new HashMap<>();
    asked.forEach((id, replies) -> unlessItsNodeIsAway(() -> sales.put(id, inRedis(id, replies))));
    return sales;
  }

  private void unlessItsNodeIsAway(Runnable part) {
    try {
      part.run();
    } catch (JedisException e) {
      failures.warn("sales of a Redis node are not read", e);
    }
  }

  private static Asked asked(AbstractPipeline pipeline, long id) {
    return new Asked(
        pipeline.hmget(RedisKeys.sku(id), "state", "elsewhere", "epoch"),
        pipeline.get(RedisKeys.stock(id)));
  }

  /** A sale whose keys cannot be read has no state. */
  private static InRedis inRedis(long id, Asked asked) {
    try {
      String stock = PipelineReplies.get(asked.stock());
      List<@Nullable String> hash = PipelineReplies.get(asked.hash());
      String epoch = hash.get(2);
      return new InRedis(
          hash.get(0),
          stock == null ? null : Long.valueOf(stock),
          units(id, hash.get(1)),
          epoch == null ? 0 : Long.parseLong(epoch));
    } catch (NumberFormatException e) {
      return InRedis.UNREAD;
    } catch (JedisDataException e) {
      if (String.valueOf(e.getMessage()).startsWith("WRONGTYPE")) {
        return InRedis.UNREAD;
      }
      throw e; // of the server, not of this sale
    }
  }

  /** The units of {@code <units>:<Unix ms>}, which a shard has while they are known. */
  private static long units(long sku, @Nullable String elsewhere) {
    int end = elsewhere == null ? -1 : elsewhere.indexOf(':');
    long unknown = Shards.isShard(sku) ? -1 : 0;
    return end < 0 ? unknown : Long.parseLong(elsewhere, 0, end, 10);
  }
}
