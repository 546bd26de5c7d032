package io.seckill.consumer.ledger;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;
import static java.util.stream.Collectors.toSet;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.support.logging.ThrottledLog;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * The ledgers last read, and since when each has not balanced. For each order queue, and for all
 * strong sales, only one read runs at a time, for all callers; a ledger that is shown is at most
 * {@value #REUSE_MS} ms old, and replaces none that was read later. Within this time the SKUs of a
 * queue share one reading of Redis and the broker; a ledger that does not balance with it, because
 * MySQL is read later, is read anew. Thread-safe.
 */
@Component
public class Ledgers {

  static final int REUSE_MS = 500;

  /**
   * Reads before a SKU counts as unbalanced. Each takes a few milliseconds, and orders in motion do
   * not unbalance all of them.
   */
  private static final int READS = 3;

  /**
   * Most SKUs on sale that are read periodically and have metrics, running sales first: bounds the
   * work of each refresh and the number of time series.
   */
  private static final int MAX_SKUS = 50;

  /** The ledger read longest ago is then forgotten. */
  private static final int MOST_SKUS = 10_000;

  /** In place of a queue's number, above all of them: the orders of strong sales have no queue. */
  private static final int NO_QUEUE = BrokerTopology.ORDER_QUEUES;

  /** As often as Prometheus reads the metrics, see deploy/observability/prometheus.yml. */
  private static final Duration PAUSE = Duration.ofSeconds(5);

  private final ThrottledLog failures = new ThrottledLog(LoggerFactory.getLogger(Ledgers.class));
  private final LedgerReader reader;
  private final DatabaseBalanceItems mysql;
  private final LedgerMeters meters;
  private final Clock clock;
  private final Map<Long, SkuLedger> last =
      Collections.synchronizedMap(
          new LinkedHashMap<>(16, 0.75f, true) {
            @Override
            protected boolean removeEldestEntry(Map.Entry<Long, SkuLedger> eldest) {
              return size() > MOST_SKUS;
            }
          });

  /** The SKUs on sale, and since when: from then counts the age of a ledger not read yet. */
  private volatile Map<Long, Instant> watched = Map.of();

  private final List<Object> readLocks = Stream.generate(Object::new).limit(NO_QUEUE + 1).toList();

  /** The last one of each order queue. */
  private final Map<Integer, QueueReading> readings = new ConcurrentHashMap<>();

  Ledgers(LedgerReader reader, DatabaseBalanceItems mysql, LedgerMeters meters, Clock clock) {
    this.reader = reader;
    this.mysql = mysql;
    this.meters = meters;
    this.clock = clock;
  }

  /**
   * @throws ProblemException 404 UNKNOWN_SKU
   * @throws JedisException when Redis is unavailable and the sale is not a strong one
   * @throws DataAccessException when MySQL is unavailable
   */
  SkuLedger of(long skuId) {
    return of(skuId, REUSE_MS);
  }

  private SkuLedger of(long skuId, int reuseMs) {
    Map<Long, List<Long>> strong = mysql.strongAmong(Set.of(skuId));
    List<Long> shards = strong.getOrDefault(skuId, List.of());
    if (shards.isEmpty()) {
      return of(skuId, queueOf(skuId, strong.keySet()), reuseMs);
    }
    SkuLedger known = last.get(skuId);
    return known != null && isYounger(known.readAt(), reuseMs)
        ? known
        : sharded(skuId, shards, reuseMs);
  }

  /** Units that move while the shards are read unbalance a ledger; not several in a row. */
  private SkuLedger sharded(long skuId, List<Long> shards, int reuseMs) {
    SkuLedger ledger = null;
    for (int reads = 0; reads < READS && (ledger == null || ledger.differs()); reads++) {
      int reused = reads == 0 ? reuseMs : 0;
      List<SkuLedger> read =
          byQueue(shards, mysql.strongAmong(shards).keySet()).entrySet().stream()
              .flatMap(queue -> readLocked(queue.getKey(), queue.getValue(), reused).stream())
              .sorted(Comparator.comparingInt(shard -> Shards.shard(shard.skuId())))
              .toList();
      ledger = new ShardedLedger(reader.readStrong(List.of(skuId)).get(0), read).solve();
    }
    return remember(Objects.requireNonNull(ledger));
  }

  private SkuLedger of(long skuId, int queue, int reuseMs) {
    synchronized (readLocks.get(queue)) {
      SkuLedger known = last.get(skuId);
      if (known != null && isYounger(known.readAt(), reuseMs)) {
        return known;
      }
      return read(queue, Set.of(skuId), reuseMs).stream()
          .findFirst()
          .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU));
    }
  }

  /**
   * The items for which the ledger of a sale that is over still waits, for operators; empty when it
   * is at rest. Reads it anew: an order of a strong sale may have come since the last read.
   *
   * @throws ProblemException 404 UNKNOWN_SKU
   * @throws JedisException when Redis is unavailable and the sale is not a strong one
   * @throws DataAccessException when MySQL is unavailable
   */
  public List<String> waiting(long skuId) {
    return of(skuId, 0).waiting();
  }

  private static int queueOf(long skuId, Set<Long> strong) {
    return strong.contains(skuId) ? NO_QUEUE : LedgerReader.queueOf(skuId);
  }

  /**
   * What was read before the clock was set back can lie in the future, hence the absolute value.
   */
  private boolean isYounger(Instant readAt, int ms) {
    return Duration.between(readAt, clock.instant()).abs().toMillis() < ms;
  }

  @Bean
  Sweeper ledgerRefresh() {
    return new Sweeper("ledger-refresh", PAUSE, this::refresh);
  }

  /**
   * Reads the SKUs that are on sale, or were until recently. A queue that cannot be read does not
   * affect the others, nor does a SKU with shards; strong sales come first, so that they do not
   * wait for Redis. Without MySQL the round ends.
   */
  void refresh() {
    long start = System.nanoTime();
    watch(mysql.watched(MAX_SKUS));
    Map<Long, List<Long>> strong = mysql.strongAmong(watched.keySet());
    Map<Long, List<Long>> sharded = new HashMap<>(strong);
    sharded.values().removeIf(List::isEmpty);
    Set<Long> whole = new HashSet<>(watched.keySet());
    whole.removeAll(sharded.keySet());
    byQueue(whole, strong.keySet())
        .forEach((queue, skus) -> readOrWarn("queue " + queue, () -> readLocked(queue, skus, 0)));
    sharded.forEach((sku, shards) -> readOrWarn("sku " + sku, () -> sharded(sku, shards, 0)));
    meters.show(latest(), Duration.ofNanos(System.nanoTime() - start), clock.instant());
  }

  private void readOrWarn(String what, Runnable read) {
    try {
      read.run();
    } catch (JedisException | DataAccessException | TransactionException e) {
      SqlFailure.throwIfAway(e);
      failures.warn("The ledgers of " + what + " cannot be read now", e);
    }
  }

  private static Map<Integer, List<Long>> byQueue(Collection<Long> skus, Set<Long> strong) {
    return skus.stream()
        .collect(
            groupingBy(
                sku -> queueOf(sku, strong),
                () -> new TreeMap<Integer, List<Long>>(Comparator.reverseOrder()),
                toList()));
  }

  private List<SkuLedger> readLocked(int queue, Collection<Long> skus, int reuseMs) {
    synchronized (readLocks.get(queue)) {
      return read(queue, skus, reuseMs);
    }
  }

  private void watch(List<Long> skus) {
    Instant now = clock.instant();
    Map<Long, Instant> since = new LinkedHashMap<>();
    skus.forEach(sku -> since.put(sku, watched.getOrDefault(sku, now)));
    watched = since;
    meters.showAges(skus, this::age);
  }

  /** Time since the ledger was read, or since it was to be read first. */
  private Duration age(long sku) {
    SkuLedger read = last.get(sku);
    Instant since = read != null ? read.readAt() : watched.get(sku);
    return since == null ? Duration.ZERO : Duration.between(since, clock.instant());
  }

  List<SkuLedger> latest() {
    return watched.keySet().stream().map(last::get).filter(Objects::nonNull).toList();
  }

  /** Remembers every ledger that can be read, also when it throws for another. */
  private List<SkuLedger> read(int queue, Collection<Long> skus, int reuseMs) {
    Map<Long, SkuLedger> found = new HashMap<>();
    Map<Long, JedisException> failed = new HashMap<>();
    Set<Long> unbalancedSkus = Set.copyOf(skus);
    for (int reads = 0; reads < READS && !unbalancedSkus.isEmpty(); reads++) {
      List<SkuLedger> ledgers =
          queue == NO_QUEUE
              ? reader.readStrong(unbalancedSkus)
              : reader.read(reading(queue, reads == 0 ? reuseMs : 0), unbalancedSkus, failed::put);
      ledgers.forEach(ledger -> found.put(ledger.skuId(), ledger));
      unbalancedSkus =
          ledgers.stream()
              .filter(ledger -> !ledger.balanced())
              .map(SkuLedger::skuId)
              .collect(toSet());
    }
    found.keySet().removeAll(failed.keySet());
    List<SkuLedger> read = found.values().stream().map(this::remember).toList();
    if (!failed.isEmpty()) {
      throw failed.values().iterator().next();
    }
    return read;
  }

  private QueueReading reading(int queue, int reuseMs) {
    QueueReading known = readings.get(queue);
    if (known != null && isYounger(known.at(), reuseMs)) {
      return known;
    }
    QueueReading read = reader.read(queue);
    readings.put(queue, read);
    return read;
  }

  /** Returns the known one if it is later: at a fallback the queue of a SKU changes meanwhile. */
  private SkuLedger remember(SkuLedger ledger) {
    synchronized (last) {
      SkuLedger known = last.get(ledger.skuId());
      if (known != null && isLater(known.readAt(), ledger.readAt())) {
        return known;
      }
      SkuLedger remembered = ledger.after(known);
      last.put(ledger.skuId(), remembered);
      return remembered;
    }
  }

  /** A time to come is one of before the clock was set back. */
  private boolean isLater(Instant known, Instant readAt) {
    return known.isAfter(readAt) && !known.isAfter(clock.instant());
  }
}
