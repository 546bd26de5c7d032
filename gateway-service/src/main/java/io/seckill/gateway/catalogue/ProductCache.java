package io.seckill.gateway.catalogue;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleState;
import io.seckill.support.thread.DaemonThreads;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Caches the products whose sales Redis may still have, and those that were never on sale and may
 * yet be. A dedicated thread reads them once a second with one statement, whose cost does not grow
 * with what ended long ago; callers read memory. A request for a SKU that is not cached waits for
 * the next read, which then starts earlier and looks for that SKU, too: a new product is never
 * reported as unknown, and any number of invented SKUs costs four reads a second. While MySQL does
 * not answer, the last read is used for five minutes, and a thousand requests at most wait for the
 * next one.
 */
@Component
public final class ProductCache implements SmartLifecycle {

  /** The columns that {@link #product} reads. */
  public static final String COLUMNS =
      """
      sku_id, name, price_cents, stock, initial_stock, policy, limit_per_user, sale_phase, opens_at, closes_at,
      state, state_version, epoch, last_seq, settled
      """;

  /** Products that may change without being asked for; the first condition is for the index. */
  private static final String ALIVE =
      "closes_at > UTC_TIMESTAMP() - INTERVAL 31 DAY"
          + " AND closes_at > UTC_TIMESTAMP() - INTERVAL retention_s + 3600 SECOND";

  private static final String READ =
      """
      SELECT term, in_fallback, %s, dead_sku,
          closes_at > UTC_TIMESTAMP() - INTERVAL retention_s SECOND AS is_retained
        FROM (SELECT term, state <> 'REDIS' AS in_fallback FROM fallback) latest LEFT JOIN (
          SELECT %s, retention_s FROM products WHERE %s
          UNION SELECT %s, retention_s FROM products WHERE sku_id IN (:wanted)
        ) read_now ON TRUE
        LEFT JOIN (SELECT DISTINCT sku_id AS dead_sku FROM dead_letter WHERE state = 'OPEN') dead
        ON dead_sku = sku_id
      """
          .formatted(COLUMNS, COLUMNS, ALIVE, COLUMNS);

  private static final Logger log = LoggerFactory.getLogger(ProductCache.class);
  private static final long READ_EVERY_MS = 1_000;
  private static final long READ_EARLIEST_MS = 250;

  /** Longest wait for a SKU that is not cached; MySQL may hang for longer. */
  private static final Duration PATIENCE = Duration.ofSeconds(3);

  /**
   * Most requests that wait for one read: one that hangs would keep something of each. A read takes
   * milliseconds, so this allows for thousands of unknown SKUs a second.
   */
  static final int MOST_WAITING = 1_000;

  /**
   * A sale continues without MySQL, and so does its page. What may change meanwhile, whether the
   * sale runs and whether units are left, is read from Redis.
   */
  private static final Duration LONGEST_AGE = Duration.ofMinutes(5);

  /** Two reads. */
  private static final Duration FRESH = Duration.ofSeconds(2);

  /** How long the product of an ended sale is remembered for its page; it changes no more. */
  private static final Duration ENDED = Duration.ofSeconds(5);

  private static final int ENDED_REMEMBERED = 10_000;

  private final JdbcClient mysql;
  private volatile @Nullable Reading latest;
  private volatile @Nullable ScheduledExecutorService reader;
  private boolean failing; // used by the reader thread only

  private final ReentrantLock lock = new ReentrantLock();
  private CompletableFuture<Reading> next = new CompletableFuture<>(); // guarded by the lock
  private boolean isWanted; // guarded by the lock
  private int waiting; // guarded by the lock: requests that were given next
  private Set<Long> wanted = new HashSet<>(); // guarded by the lock: SKUs to look for in the next
  private final Cache<Long, ProductRow> ended =
      Caffeine.newBuilder().expireAfterWrite(ENDED).maximumSize(ENDED_REMEMBERED).build();

  /**
   * @param atNanos System.nanoTime() when the read began
   * @param withDeadLetters SKUs of orders that are open dead letters
   * @param strong SKUs whose purchases MySQL decides
   * @param redisHasSales whether Redis may have the data of any sale
   * @param term of the last fallback that has begun
   * @param inFallback whether it has not ended
   */
  private record Reading(
      long atNanos,
      Map<Long, ProductRow> bySku,
      Set<Long> withDeadLetters,
      Set<Long> strong,
      boolean redisHasSales,
      long term,
      boolean inFallback) {

    boolean isCurrent() {
      return System.nanoTime() - atNanos <= FRESH.toNanos();
    }
  }

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
   * Completes when the products have been read by a read that began after this call.
   *
   * @return fails as {@link #find}
   */
  public Mono<Void> readAgain() {
    return Mono.defer(() -> nextReading(Set.of())).then();
  }

  /**
   * @param skus to look for in that read, too
   */
  private Mono<Reading> nextReading(Set<Long> skus) {
    lock.lock();
    try {
      if (waiting == MOST_WAITING) {
        return Mono.error(unavailable());
      }
      waiting++;
      wanted.addAll(skus);
      return Mono.fromFuture(next(), true)
          .timeout(PATIENCE)
          .onErrorMap(TimeoutException.class, e -> unavailable());
    } finally {
      lock.unlock();
    }
  }

  /** The result of a read that begins after this call. */
  private CompletableFuture<Reading> next() {
    ScheduledExecutorService running = reader;
    Reading before = latest;
    lock.lock();
    try {
      if (!isWanted && running != null) {
        long ageMs =
            before == null
                ? READ_EARLIEST_MS
                : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - before.atNanos());
        var unused =
            running.schedule(
                this::read, Math.max(0, READ_EARLIEST_MS - ageMs), TimeUnit.MILLISECONDS);
        isWanted = true;
      }
      return next;
    } finally {
      lock.unlock();
    }
  }

  /**
   * All products whose sales may still be on, or come.
   *
   * @throws ProblemException 503 MYSQL_UNAVAILABLE when the last read is too old
   */
  public Collection<ProductRow> all() {
    return reading().bySku().values();
  }

  /**
   * What decides a SKU's purchases, as of the last read, however old: it changes only with a
   * fallback. REDIS for a SKU that was not there; null before the first read.
   */
  public @Nullable Decider decides(long skuId) {
    Reading now = latest;
    if (now == null) {
      return null;
    }
    return !now.strong().isEmpty() && now.strong().contains(skuId) ? Decider.MYSQL : Decider.REDIS;
  }

  /**
   * Whether Redis decides the SKU's purchases, by a read that began at most two seconds ago and
   * shows no other term.
   */
  public boolean isOfRedis(long skuId, long term) {
    Reading now = latest;
    return now != null && now.isCurrent() && now.term() == term && !now.strong().contains(skuId);
  }

  /** The product as of the last read, however old; null for a SKU that was not there. */
  public @Nullable ProductRow lastRead(long skuId) {
    Reading now = latest;
    return now == null ? null : now.bySku().get(skuId);
  }

  /** The term of the last fallback in the last read; 0 for none. */
  public long term() {
    Reading now = latest;
    return now == null ? 0 : now.term();
  }

  /**
   * Whether MySQL decides the sales of Redis for a while, or the switch is under way, as of the
   * last read, however old.
   */
  public boolean isInFallback() {
    Reading now = latest;
    return now != null && now.inFallback();
  }

  /** Begins the next read soon, if it is not about to begin. */
  public void readSoon() {
    var unused = next();
  }

  /** Whether orders may wait in Redis: not if all sales of the last read are strong, or over. */
  public boolean redisMayHaveOrders() {
    Reading now = latest;
    return now == null || now.redisHasSales();
  }

  /** The products of the last read, however old; empty before the first read. */
  public Optional<Collection<ProductRow>> lastRead() {
    return Optional.ofNullable(latest).map(reading -> reading.bySku().values());
  }

  /**
   * Whether MySQL may have stored an admission: not if a product read in the last two seconds shows
   * a lower sequence number, which rises in the transaction that stores an order, and the SKU has
   * no open dead letter, which raises none.
   */
  public boolean mayHaveStored(long skuId, long seq) {
    Reading now = latest;
    if (now == null || !now.isCurrent()) {
      return true;
    }
    ProductRow product = now.bySku().get(skuId);
    return product == null || seq <= product.lastSeq() || now.withDeadLetters().contains(skuId);
  }

  private Reading reading() {
    Reading now = latest;
    if (now == null || System.nanoTime() - now.atNanos() > LONGEST_AGE.toNanos()) {
      throw unavailable();
    }
    return now;
  }

  private static ProblemException unavailable() {
    return ProblemException.of(
        ProblemCode.MYSQL_UNAVAILABLE, "Products cannot be shown at the moment.");
  }

  private void read() {
    Asked begun = begin();
    CompletableFuture<Reading> asked = begun.reading();
    try {
      Reading now = readAll(begun.skus());
      latest = now;
      failing = false;
      asked.complete(now);
    } catch (RuntimeException e) { // an exception would end the schedule
      if (!failing) {
        log.warn("products cannot be read, using those of the last read: {}", e.toString());
      }
      failing = true;
      asked.completeExceptionally(unavailable());
    }
  }

  /** What callers wait for: a read, and in it the products of these SKUs. */
  private record Asked(CompletableFuture<Reading> reading, Set<Long> skus) {}

  /** Callers from now on wait for another read. */
  private Asked begin() {
    lock.lock();
    try {
      Asked asked = new Asked(next, wanted);
      next = new CompletableFuture<>();
      wanted = new HashSet<>();
      isWanted = false;
      waiting = 0;
      return asked;
    } finally {
      lock.unlock();
    }
  }

  private Reading readAll(Set<Long> alsoSkus) {
    long now = System.nanoTime();
    Map<Long, ProductRow> bySku = new HashMap<>();
    Set<Long> withDeadLetters = new HashSet<>();
    Set<Long> strong = new HashSet<>();
    AtomicBoolean redisHasSales = new AtomicBoolean();
    AtomicLong term = new AtomicLong();
    AtomicBoolean inFallback = new AtomicBoolean();
    mysql
        .sql(READ)
        .param("wanted", alsoSkus.isEmpty() ? Set.of(0L) : alsoSkus)
        .query(
            row -> {
              term.set(row.getLong("term"));
              inFallback.set(row.getBoolean("in_fallback"));
              if (row.getObject("sku_id") == null) {
                return; // there is no product
              }
              ProductRow product = product(row);
              bySku.put(product.skuId(), product);
              if (alsoSkus.contains(product.skuId())) {
                ended.put(product.skuId(), product);
              }
              if (row.getObject("dead_sku") != null) {
                withDeadLetters.add(product.skuId());
              }
              if (!product.redisDecides()) {
                strong.add(product.skuId());
              } else if (product.state() != SaleState.NEW && row.getBoolean("is_retained")) {
                redisHasSales.set(true);
              }
            });
    return new Reading(
        now, bySku, withDeadLetters, strong, redisHasSales.get(), term.get(), inFallback.get());
  }

  /** The product of a row with {@link #COLUMNS}. */
  public static ProductRow product(ResultSet row) throws SQLException {
    SalePhase phase = SalePhase.valueOf(row.getString("sale_phase"));
    return new ProductRow(
        row.getLong("sku_id"),
        row.getString("name"),
        row.getLong("price_cents"),
        row.getLong("stock"),
        row.getLong("initial_stock"),
        PurchasePolicy.valueOf(row.getString("policy")),
        row.getInt("limit_per_user"),
        phase.decider(),
        phase.fallback(),
        instant(row, "opens_at"),
        instant(row, "closes_at"),
        SaleState.valueOf(row.getString("state")),
        row.getLong("state_version"),
        row.getLong("epoch"),
        row.getLong("last_seq"),
        row.getLong("settled"));
  }

  private static Instant instant(ResultSet row, String column) throws SQLException {
    return row.getObject(column, LocalDateTime.class).toInstant(ZoneOffset.UTC);
  }

  @Override
  public void start() {
    ScheduledExecutorService started =
        Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("products"));
    var unused = started.scheduleAtFixedRate(this::read, 0, READ_EVERY_MS, TimeUnit.MILLISECONDS);
    reader = started;
  }

  @Override
  public void stop() {
    ScheduledExecutorService running = reader;
    reader = null;
    if (running != null) {
      running.shutdownNow();
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
