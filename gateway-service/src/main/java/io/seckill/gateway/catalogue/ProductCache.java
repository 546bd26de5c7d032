package io.seckill.gateway.catalogue;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.sale.Decider;
import io.seckill.gateway.catalogue.NextReading.Asked;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.thread.RepeatingTask;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Caches the products whose sales Redis may still have, and those that were never on sale and may
 * yet be. A dedicated thread reads them once a second with one statement; callers read memory. A
 * request for a SKU that is not cached waits for the next read, which then starts earlier and looks
 * for that SKU, too: a new product is never reported as unknown, and any number of invented SKUs
 * costs four reads a second. While MySQL does not answer, the last read is used for five minutes,
 * and of requests for such SKUs, and of others, a thousand at most wait for the next one.
 */
@Component
public final class ProductCache implements SmartLifecycle {

  private static final Duration READ_EVERY = Duration.ofSeconds(1);
  private static final Duration READ_EARLIEST = Duration.ofMillis(250);

  /** Longest time until the next read has ended, while MySQL answers at once. */
  public static final Duration NEXT_READ_WITHIN = READ_EARLIEST.plusMillis(750);

  /** Longest wait for a SKU that is not cached; MySQL may hang for longer. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /** How long the product of an ended sale is remembered for its page; it changes no more. */
  private static final Duration ENDED = Duration.ofSeconds(5);

  private static final int ENDED_REMEMBERED = 10_000;

  private final JdbcClient mysql;
  private volatile @Nullable ProductReading latest;
  private volatile @Nullable RepeatingTask reader;
  private long begunNanos; // of the last read; used by the reader thread only

  private final NextReading next = new NextReading();
  private final Cache<Long, ProductRow> ended =
      Caffeine.newBuilder().expireAfterWrite(ENDED).maximumSize(ENDED_REMEMBERED).build();

  ProductCache(JdbcClient mysql) {
    this.mysql = mysql;
  }

  /**
   * Returns the product as MySQL had it a second ago; empty when MySQL has none with this id.
   *
   * @return fails with 503 MYSQL_UNAVAILABLE when the last read is too old, when MySQL cannot
   *     confirm that there is no such product, or when too many wait for that
   */
  public Mono<ProductRow> find(long skuId) {
    return Mono.defer(
        () -> {
          ProductRow alive = latest == null ? null : reading().bySku().get(skuId);
          ProductRow product = alive == null ? ended.getIfPresent(skuId) : alive;
          return product == null ? findInNext(skuId) : Mono.just(product);
        });
  }

  private Mono<ProductRow> findInNext(long skuId) {
    return nextReading(Set.of(skuId)).mapNotNull(reading -> reading.bySku().get(skuId));
  }

  /**
   * As {@link #find}, but by a read that began after this call. Shoppers who wait for it take no
   * place of {@link #readAgain}.
   */
  public Mono<ProductRow> findAgain(long skuId) {
    return Mono.defer(() -> findInNext(skuId));
  }

  /**
   * Completes when the products have been read by a read that began after this call; for operators.
   *
   * @return fails as {@link #find}
   */
  public Mono<Void> readAgain() {
    return Mono.defer(() -> nextReading(Set.of())).then();
  }

  /** The next reading looks for these SKUs, too. */
  private Mono<ProductReading> nextReading(Set<Long> skus) {
    CompletableFuture<ProductReading> reading = next.await(skus);
    if (reading == null) {
      return Mono.error(unavailable());
    }
    readSoon();
    return Mono.fromFuture(reading, true)
        .timeout(PATIENCE)
        .onErrorMap(TimeoutException.class, e -> unavailable());
  }

  /** Begins the next read soon, if it is not about to begin. */
  public void readSoon() {
    RepeatingTask running = reader;
    if (running != null) {
      next.want(running::runSoon);
    }
  }

  /**
   * All products whose sales may still be on, or come; a SKU with shards once, with the units of
   * all.
   *
   * @throws ProblemException 503 MYSQL_UNAVAILABLE when the last read is too old
   */
  public Collection<ProductRow> all() {
    return reading().skus();
  }

  /**
   * How many shards decide a SKU's purchases, as of the last read, however old: it does not change
   * any more after the first preheat. 1 for a SKU without shards, and before that preheat.
   */
  public int shards(long skuId) {
    ProductReading now = latest;
    return now == null ? 1 : now.shards(skuId);
  }

  /**
   * The store that decides a SKU's purchases, as of the last read, however old: it changes only
   * with a fallback. REDIS for a SKU that was not there; null before the first read.
   */
  public @Nullable Decider decides(long skuId) {
    ProductReading now = latest;
    return now == null ? null : now.decides(skuId);
  }

  /**
   * Whether Redis decides the SKU's purchases, by a read that began at most two seconds ago and
   * shows no other term.
   */
  public boolean isOfRedis(long skuId, long term) {
    ProductReading now = latest;
    return now != null && now.isOfRedis(skuId, term);
  }

  /** The product as of the last read, however old; null for a SKU that was not there. */
  public @Nullable ProductRow lastRead(long skuId) {
    ProductReading now = latest;
    return now == null ? null : now.bySku().get(skuId);
  }

  /**
   * The product as of a read that began at most two seconds ago; null without one, and for a SKU
   * that was not there.
   */
  public @Nullable ProductRow freshlyRead(long skuId) {
    ProductReading now = latest;
    return now == null ? null : now.fresh(skuId);
  }

  /** The term of the last fallback in the last read; 0 for none. */
  public long term() {
    ProductReading now = latest;
    return now == null ? 0 : now.term();
  }

  /**
   * Whether MySQL decides the sales of Redis for a while, or the switch is under way, as of the
   * last read, however old.
   */
  public boolean isInFallback() {
    ProductReading now = latest;
    return now != null && now.inFallback();
  }

  /** Whether orders may wait in Redis: not if all sales of the last read are strong, or over. */
  public boolean redisMayHaveOrders() {
    ProductReading now = latest;
    return now == null || now.redisHasSales();
  }

  /** {@link #all} of the last read, however old; empty before the first read. */
  public Optional<Collection<ProductRow>> lastRead() {
    return Optional.ofNullable(latest).map(ProductReading::skus);
  }

  /**
   * Whether MySQL may have stored an admission: not if a product read in the last two seconds shows
   * a lower sequence number, which rises in the transaction that stores an order, and the SKU has
   * no open dead letter, which raises none.
   */
  public boolean mayHaveStored(long skuId, long seq) {
    ProductReading now = latest;
    return now == null || now.mayHaveStored(skuId, seq);
  }

  private ProductReading reading() {
    ProductReading now = latest;
    if (now == null || !now.isUsable()) {
      throw unavailable();
    }
    return now;
  }

  private static ProblemException unavailable() {
    return ProblemException.of(
        ProblemCode.MYSQL_UNAVAILABLE, "Products cannot be shown at the moment.");
  }

  private void read() {
    begunNanos = System.nanoTime();
    Asked begun = next.begin();
    CompletableFuture<ProductReading> asked = begun.reading();
    try {
      ProductReading now = ProductReader.read(mysql, begun.skus());
      for (long sku : begun.skus()) {
        ProductRow product = now.bySku().get(sku);
        if (product != null) {
          ended.put(sku, product);
        }
      }
      latest = now;
      asked.complete(now);
    } catch (RuntimeException | Error e) {
      asked.completeExceptionally(unavailable());
      throw e;
    }
  }

  @Override
  public void start() {
    begunNanos = System.nanoTime() - READ_EVERY.toNanos();
    reader = new RepeatingTask("products", this::pause, this::readIfDue);
  }

  /** Time left until the next read is due; one that is wanted is due earlier. */
  private Duration pause() {
    Duration every = next.isWanted() ? READ_EARLIEST : READ_EVERY;
    return every.minusNanos(System.nanoTime() - begunNanos);
  }

  /** A request that wants a read ends the pause at once. */
  private void readIfDue() {
    if (pause().compareTo(Duration.ZERO) <= 0) {
      read();
    }
  }

  @Override
  public void stop() {
    RepeatingTask running = reader;
    reader = null;
    if (running != null) {
      running.close();
    }
  }

  @Override
  public boolean isRunning() {
    return reader != null;
  }

  /** Starts reading before the first shopper's request can arrive. */
  @Override
  public int getPhase() {
    return WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE - 2;
  }
}
