package io.seckill.gateway.verification;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.Partition;
import io.seckill.gateway.ids.WorkerLeases;
import io.seckill.gateway.verification.HighWaterMarks.Mark;
import io.seckill.gateway.verification.HighWaterMarks.Verdict;
import io.seckill.gateway.verification.RedisInspection.Observation;
import io.seckill.gateway.verification.RedisInspection.View;
import io.seckill.gateway.verification.StoredSales.Sale;
import io.seckill.support.logging.ThrottledLog;
import io.seckill.support.thread.RepeatingTask;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import reactor.core.publisher.Mono;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Compares Redis with MySQL before the first admission on a server's data, and periodically after
 * that. A SKU is quarantined while MySQL has newer data of it than Redis (a higher epoch, sequence
 * or number of stock changes, or a sale that Redis does not have), or when a server that took over
 * has fewer admissions than this gateway has seen; other SKUs are not affected. A gateway that has
 * seen nothing of a SKU relies on MySQL alone, and so quarantines the SKU until MySQL has stored
 * everything published before the server took over.
 *
 * <p>Runs on a thread of its own, which blocks as long as MySQL does; nothing that a running sale
 * needs may wait for this thread. After a loss of data no order id is used before Redis has
 * confirmed the worker lease again.
 */
public final class SaleWatch implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(SaleWatch.class);

  /** Between the first comparisons while a server waits to be verified or does not answer. */
  static final Duration TICK = Duration.ofMillis(50);

  private final RedisInspection redis;
  private final StoredSales database;
  private final VerifiedServers servers;
  private final Predicate<String> mayBeSoldFrom;
  private final HighWaterMarks marks;
  private final LossReports reports;
  private final WorkerLeases leases;
  private final long intervalNanos;
  private final RepeatingTask watching;
  private final ThrottledLog reportFailures = new ThrottledLog(log);
  private final Set<Long> lost = new HashSet<>(); // SKUs whose loss was logged
  private final AtomicLong pauseNanos = new AtomicLong(); // a tick loses no wake
  private long comparedNanos;
  private boolean mysqlUnavailable;
  private boolean refused;

  /** Receives reports of losses that the data in MySQL do not show. */
  @FunctionalInterface
  interface LossReports {

    /** Reports that Redis has lost some of the admissions of this epoch up to this sequence. */
    Mono<?> report(long skuId, long epoch, long seq);
  }

  /** {@code mayBeSoldFrom}: a server with this replication id may be verified; may block. */
  SaleWatch(
      RedisInspection redis,
      StoredSales database,
      VerifiedServers servers,
      Predicate<String> mayBeSoldFrom,
      HighWaterMarks marks,
      LossReports reports,
      WorkerLeases leases,
      Duration interval) {
    this.redis = redis;
    this.database = database;
    this.servers = servers;
    this.mayBeSoldFrom = mayBeSoldFrom;
    this.marks = marks;
    this.reports = reports;
    this.leases = leases;
    this.intervalNanos = interval.toNanos();
    this.comparedNanos = System.nanoTime() - intervalNanos;
    shortenPauses();
    this.watching = new RepeatingTask("sale-watch", this::pause, this::tick);
  }

  /**
   * Starts a comparison at once instead of at the next tick; called when a script reaches another
   * server.
   */
  public void wake() {
    shortenPauses();
    watching.runSoon();
  }

  /**
   * The next pause is a {@link #TICK}, each later one twice as long, up to the interval: a server
   * may stay unverified for hours, and each comparison reads all sales.
   */
  private void shortenPauses() {
    pauseNanos.set(TICK.toNanos() / 2);
  }

  private void tick() {
    try {
      if (!rests() || untilDue() <= 0) {
        pauseNanos.updateAndGet(nanos -> Math.min(2 * nanos, intervalNanos));
        compare();
      }
    } catch (JedisException | CallNotPermittedException e) {
      log.debug("redis cannot be inspected: {}", e.toString());
    } catch (DataAccessException e) {
      if (!mysqlUnavailable) {
        log.warn(
            "mysql is unavailable; unverified partitions admit no purchases: {}", e.toString());
      }
      mysqlUnavailable = true;
      comparedNanos = System.nanoTime();
    }
  }

  /**
   * Whether the next comparison waits for its interval: also while MySQL is unavailable, or a
   * server is refused.
   */
  private boolean rests() {
    return mysqlUnavailable || refused || servers.allVerified();
  }

  private long untilDue() {
    return comparedNanos + intervalNanos - System.nanoTime();
  }

  Duration pause() {
    long nanos = Math.max(TICK.toNanos(), pauseNanos.get());
    return Duration.ofNanos(rests() ? Math.max(nanos, untilDue()) : nanos);
  }

  /** Reads MySQL before Redis: a Redis that has lost nothing then has all that MySQL had. */
  private void compare() {
    // Read before the sales, so that these include all that MySQL had when the servers were proven.
    Map<Integer, String> proven = database.provenServers();
    List<Sale> sales = database.all();
    mysqlUnavailable = false;
    View inRedis = redis.inspect(sales);
    mark(sales, inRedis, proven);
    boolean anew = quarantine(sales, inRedis);
    servers.compared(sales, inRedis, proven);
    verify(inRedis.servers());
    comparedNanos = System.nanoTime() - (anew ? intervalNanos : 0);
    if (anew) {
      shortenPauses();
    }
  }

  private void mark(List<Sale> sales, View inRedis, Map<Integer, String> proven) {
    marks.retain(sales.stream().map(Sale::skuId).collect(Collectors.toSet()));
    for (Sale sale : sales) {
      Observation data = inRedis.sales().get(sale.skuId());
      if (data != null && data.epoch() > 0) {
        int p = Partition.ofSku(sale.skuId());
        String server = Objects.requireNonNull(inRedis.servers().get(p));
        Mark mark =
            marks.found(
                server,
                sale.skuId(),
                data.epoch(),
                data.seq(),
                server.equals(proven.getOrDefault(p, server)),
                server.equals(servers.replicationId(p)));
        boolean unknown = sale.epoch() == data.epoch() && sale.lastSeq() <= data.seq();
        if (unknown && mark.verdict() == Verdict.LOST) {
          reportLoss(sale, mark);
        } else {
          lost.remove(sale.skuId());
        }
      }
    }
  }

  /**
   * Reports the loss, at each comparison until MySQL has newer data than Redis; then every gateway
   * and the reconciliation detect it.
   */
  private void reportLoss(Sale sale, Mark mark) {
    long sku = sale.skuId();
    if (lost.add(sku)) {
      log.error("sku {}: redis has lost some admissions up to sequence {}", sku, mark.seq());
    }
    reports
        .report(sku, mark.epoch(), mark.seq())
        .subscribe(
            answer -> {},
            failure -> reportFailures.warn("sku " + sku + ": reporting the loss failed", failure));
  }

  private Set<Long> suspects(List<Sale> sales, View inRedis) {
    return sales.stream()
        .filter(sale -> sale.isSuspect(inRedis.sales().get(sale.skuId()), marks.of(sale.skuId())))
        .map(Sale::skuId)
        .collect(Collectors.toSet());
  }

  /**
   * Quarantines the suspects and ends the quarantine of the others. A sale that is open in Redis
   * but not in MySQL may have been opened between the two reads. Opening writes MySQL first, so
   * MySQL is read again before the sale is quarantined for this reason. SKUs of a partition that
   * could not be read stay quarantined if they were. Returns whether a SKU is newly quarantined: a
   * preheat may have changed it between the two reads, so it is compared again at once.
   */
  private boolean quarantine(List<Sale> sales, View inRedis) {
    Set<Long> quarantined = new HashSet<>(servers.quarantined());
    quarantined.removeIf(skuId -> inRedis.servers().containsKey(Partition.ofSku(skuId)));
    Set<Long> suspects = suspects(sales, inRedis);
    if (!suspects.isEmpty()) {
      quarantined.addAll(suspects(inPresentState(sales, suspects), inRedis));
    }
    boolean anew = !servers.quarantined().containsAll(quarantined);
    report(quarantined);
    long onSale =
        sales.stream().filter(sale -> quarantined.contains(sale.skuId()) && !sale.isOver()).count();
    servers.quarantine(quarantined, (int) onSale);
    return anew;
  }

  /**
   * Returns the suspects with their present state in MySQL. Epoch and sequence stay as read before
   * Redis was read, because the sale has continued since.
   */
  private List<Sale> inPresentState(List<Sale> sales, Set<Long> suspects) {
    Map<Long, String> states =
        database.all().stream().collect(Collectors.toMap(Sale::skuId, Sale::state));
    return sales.stream()
        .filter(sale -> suspects.contains(sale.skuId()))
        .map(sale -> sale.in(states.getOrDefault(sale.skuId(), sale.state())))
        .toList();
  }

  private void report(Set<Long> quarantined) {
    Set<Long> before = servers.quarantined();
    quarantined.stream().filter(skuId -> !before.contains(skuId)).forEach(this::reportQuarantine);
    before.stream()
        .filter(skuId -> !quarantined.contains(skuId))
        .forEach(skuId -> log.info("sku {} is no longer quarantined", skuId));
  }

  private void reportQuarantine(long skuId) {
    Mark mark = marks.of(skuId);
    if (mark != null && mark.verdict() == Verdict.UNPROVEN) {
      log.warn(
          "sku {} is quarantined until mysql has stored all that was published before this redis",
          skuId);
    } else {
      log.error(
          "sku {} is quarantined: redis has lost orders or stock changes of its sale, it must be rebuilt",
          skuId);
    }
  }

  /**
   * Marks servers as verified, or refuses them. Called after the quarantines are in force; a server
   * is verified only if its data confirm the worker lease.
   */
  private void verify(Map<Integer, String> found) {
    Map<Integer, String> changed = new TreeMap<>(found);
    changed.entrySet().removeIf(one -> one.getValue().equals(servers.replicationId(one.getKey())));
    Set<String> unsafe = new HashSet<>(changed.values());
    unsafe.removeIf(mayBeSoldFrom);
    changed.forEach(
        (p, replicationId) -> {
          if (unsafe.contains(replicationId)) {
            servers.refused(p);
          } else if (leases.renew(p)) {
            servers.verified(p, replicationId);
            log.info("data of partition {} verified: replication id {}", p, replicationId);
          }
        });
    changed.values().retainAll(unsafe);
    redis.breaker().notSoldFrom(changed.keySet());
    if (!unsafe.isEmpty() && !refused) {
      log.error("redis servers {} are not sold from: their settings are unsafe or unknown", unsafe);
    }
    refused = !unsafe.isEmpty();
  }

  /** Ends the thread; if it is blocked in MySQL, the driver's timeout ends it later. */
  @Override
  public void close() {
    watching.close();
  }
}
