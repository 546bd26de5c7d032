package io.seckill.gateway.admission;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.admission.HighWaterMarks.Mark;
import io.seckill.gateway.admission.HighWaterMarks.Verdict;
import io.seckill.gateway.admission.StoredSales.Sale;
import io.seckill.gateway.backends.RedisBreaker;
import io.seckill.support.thread.DaemonThreads;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import reactor.core.publisher.Mono;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Compares Redis with MySQL before the first admission on a server's data, and periodically after
 * that. A SKU is quarantined while MySQL has newer data of it than Redis (a higher epoch or
 * sequence, or a sale that Redis does not have), or when a server that took over has fewer
 * admissions than this gateway knows of; other SKUs are not affected. A gateway that knows nothing
 * of a SKU relies on MySQL alone, and so quarantines the SKU until MySQL has stored everything
 * published before the server took over.
 *
 * <p>Runs on a thread of its own, which blocks as long as MySQL does; nothing that a running sale
 * needs may wait for this thread. After a loss of data no order id is used before Redis has
 * confirmed the worker lease again.
 */
final class SaleWatch implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(SaleWatch.class);
  private static final LuaScript INSPECT = LuaScript.from(SaleWatch.class, "inspect.lua");
  private static final long TICK_MS = 50;
  private static final int FIELDS = 3;

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final StoredSales database;
  private final VerifiedServers servers;
  private final HighWaterMarks marks;
  private final LossReports reports;
  private final WorkerLeases leases;
  private final long intervalNanos;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("sale-watch"));
  private final ScheduledFuture<?> ticking;
  private long comparedNanos;
  private boolean mysqlUnavailable;

  /**
   * A sale as stored in Redis; epoch and sequence are 0 and the state is empty if Redis does not
   * have it.
   */
  private record Observation(String state, long epoch, long seq) {
    static final Observation ABSENT = new Observation("", 0, 0);
  }

  /** One partition as read from Redis. */
  private record Partitioned(String replicationId, Map<Long, Observation> sales) {}

  /** Receives reports of losses that the data in MySQL do not show. */
  @FunctionalInterface
  interface LossReports {

    /** Reports that Redis has lost some of the admissions of this epoch up to this sequence. */
    Mono<?> report(long skuId, long epoch, long seq);
  }

  SaleWatch(
      UnifiedJedis redis,
      RedisBreaker breaker,
      StoredSales database,
      VerifiedServers servers,
      HighWaterMarks marks,
      LossReports reports,
      WorkerLeases leases,
      Duration interval) {
    this.redis = redis;
    this.breaker = breaker;
    this.database = database;
    this.servers = servers;
    this.marks = marks;
    this.reports = reports;
    this.leases = leases;
    this.intervalNanos = interval.toNanos();
    this.comparedNanos = System.nanoTime() - intervalNanos;
    this.ticking = thread.scheduleWithFixedDelay(this::tick, 0, TICK_MS, TimeUnit.MILLISECONDS);
  }

  /**
   * Starts a comparison at once instead of at the next tick; called when a script reaches another
   * server.
   */
  void wake() {
    if (!thread.isShutdown()) {
      thread.execute(this::tick);
    }
  }

  /** While MySQL is unavailable, every comparison waits for its interval. */
  private void tick() {
    try {
      boolean due = System.nanoTime() - comparedNanos >= intervalNanos;
      if (due || !(mysqlUnavailable || servers.allVerified())) {
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
    } catch (RuntimeException e) { // a throw would end the schedule
      log.error("comparing redis with mysql failed", e);
    }
  }

  /**
   * Reads MySQL before Redis: a Redis that has lost nothing then has everything that was read from
   * MySQL.
   */
  private void compare() {
    // Read before the sales, so that these include all that MySQL had when the servers were proven.
    Map<Integer, String> proven = database.provenServers();
    List<Sale> sales = database.all();
    mysqlUnavailable = false;
    Map<Integer, List<Sale>> byPartition =
        sales.stream().collect(Collectors.groupingBy(sale -> Partition.ofSku(sale.skuId())));
    Map<Integer, Partitioned> seen = new TreeMap<>();
    for (int p = 0; p < Partition.COUNT; p++) {
      try {
        seen.put(p, inspect(p, byPartition.getOrDefault(p, List.of())));
      } catch (JedisException | CallNotPermittedException e) { // a cluster node may be down
        log.debug("partition {} cannot be inspected: {}", p, e.toString());
      }
    }
    mark(sales, seen, proven);
    boolean anew = quarantine(sales, suspects(sales, seen), seen);
    verify(seen);
    comparedNanos = System.nanoTime() - (anew ? intervalNanos : 0);
  }

  private Partitioned inspect(int partition, List<Sale> sales) {
    List<String> args =
        Stream.concat(
                Stream.of(RedisKeys.prefix(partition)),
                sales.stream().map(sale -> Long.toString(sale.skuId())))
            .toList();
    List<String> keys = List.of(RedisKeys.outbox(partition));
    List<?> reply = (List<?>) breaker.call(partition, () -> INSPECT.call(redis, keys, args));
    Map<Long, Observation> data = new HashMap<>();
    for (int i = 0; i < sales.size(); i++) {
      int at = 1 + i * FIELDS;
      data.put(sales.get(i).skuId(), data(reply, at));
    }
    return new Partitioned((String) reply.get(0), data);
  }

  private static Observation data(List<?> reply, int at) {
    String state = (String) reply.get(at);
    return state.isEmpty()
        ? Observation.ABSENT
        : new Observation(state, number(reply.get(at + 1)), number(reply.get(at + 2)));
  }

  private static long number(Object text) {
    String digits = (String) text;
    return digits.matches("\\d{1,18}") ? Long.parseLong(digits) : 0;
  }

  private void mark(List<Sale> sales, Map<Integer, Partitioned> seen, Map<Integer, String> proven) {
    marks.retain(sales.stream().map(Sale::skuId).collect(Collectors.toSet()));
    for (Sale sale : sales) {
      int p = Partition.ofSku(sale.skuId());
      Partitioned partition = seen.get(p);
      if (partition != null && data(seen, sale.skuId()).epoch() > 0) {
        Observation data = data(seen, sale.skuId());
        String server = partition.replicationId();
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
        }
      }
    }
  }

  /**
   * Reports the loss, at each comparison until MySQL has newer data than Redis; then every gateway
   * and the reconciliation detect it.
   */
  private void reportLoss(Sale sale, Mark mark) {
    log.error("sku {}: redis has lost some admissions up to sequence {}", sale.skuId(), mark.seq());
    reports
        .report(sale.skuId(), mark.epoch(), mark.seq())
        .subscribe(
            answer -> {},
            failure -> log.warn("sku {}: reporting the loss failed: {}", sale.skuId(), failure));
  }

  private Set<Long> suspects(List<Sale> sales, Map<Integer, Partitioned> seen) {
    return sales.stream()
        .filter(sale -> seen.containsKey(Partition.ofSku(sale.skuId())))
        .filter(sale -> isSuspect(sale, data(seen, sale.skuId())))
        .map(Sale::skuId)
        .collect(Collectors.toSet());
  }

  private static Observation data(Map<Integer, Partitioned> seen, long skuId) {
    Partitioned partition = Objects.requireNonNull(seen.get(Partition.ofSku(skuId)));
    return partition.sales().getOrDefault(skuId, Observation.ABSENT);
  }

  /**
   * Whether the data in Redis may lack admissions. Includes sales that are not open: a repeat of an
   * admitted purchase must not be refused from data that have lost it. While a sale is being
   * loaded, the scripts themselves answer that the outcome is unknown.
   */
  private boolean isSuspect(Sale sale, Observation data) {
    Mark mark = marks.of(sale.skuId());
    if (data.equals(Observation.ABSENT)) {
      return sale.hasSold() || (mark != null && mark.seq() > 0);
    } else if (data.state().equals("PREHEATING")) {
      return false;
    }
    boolean behind = data.epoch() < sale.epoch() || data.seq() < sale.lastSeq();
    boolean sellsAlone = data.state().equals("OPEN") && !sale.sells();
    return behind || sellsAlone || (mark != null && mark.verdict() != Verdict.WHOLE);
  }

  /**
   * Quarantines the suspects and ends the quarantine of the others. A sale that is open in Redis
   * but not in MySQL may have been opened between the two reads. Opening writes MySQL first, so
   * MySQL is read again before the sale is quarantined for this reason. SKUs of a partition that
   * could not be read stay quarantined if they were.
   *
   * @return whether a SKU is newly quarantined: a preheat may have changed it between the two
   *     reads, so it is compared again at once
   */
  private boolean quarantine(List<Sale> sales, Set<Long> suspects, Map<Integer, Partitioned> seen) {
    Set<Long> quarantined = new HashSet<>(servers.quarantined());
    quarantined.removeIf(skuId -> seen.containsKey(Partition.ofSku(skuId)));
    if (!suspects.isEmpty()) {
      quarantined.addAll(suspects(inPresentState(sales, suspects), seen));
    }
    boolean anew = !servers.quarantined().containsAll(quarantined);
    report(quarantined);
    long onSale =
        sales.stream()
            .filter(sale -> quarantined.contains(sale.skuId()) && !sale.isClosed())
            .count();
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
    quarantined.stream()
        .filter(skuId -> !servers.isQuarantined(skuId))
        .forEach(this::reportQuarantine);
    for (Long skuId : servers.quarantined()) {
      if (!quarantined.contains(skuId)) {
        log.info("sku {} is no longer quarantined", skuId);
      }
    }
  }

  private void reportQuarantine(long skuId) {
    Mark mark = marks.of(skuId);
    if (mark != null && mark.verdict() == Verdict.UNPROVEN) {
      log.warn(
          "sku {} is quarantined until mysql has stored all that was published before this redis",
          skuId);
    } else {
      log.error(
          "sku {} is quarantined: redis has lost orders of its sale, it must be rebuilt", skuId);
    }
  }

  /**
   * Marks servers as verified. Called after the quarantines are in force; a server is verified only
   * if its data confirm the worker lease.
   */
  private void verify(Map<Integer, Partitioned> seen) {
    seen.forEach(
        (p, partition) -> {
          String replicationId = partition.replicationId();
          if (!replicationId.equals(servers.replicationId(p)) && leases.of(p).renew()) {
            servers.verified(p, replicationId);
            log.info("data of partition {} verified: replication id {}", p, replicationId);
          }
        });
  }

  /** Ends the thread; if it is blocked in MySQL, the driver's timeout ends it later. */
  @Override
  public void close() {
    ticking.cancel(false);
    thread.shutdown();
    try {
      if (!thread.awaitTermination(2, TimeUnit.SECONDS)) {
        log.warn("the sale watch has not stopped: it still waits for redis or mysql");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
