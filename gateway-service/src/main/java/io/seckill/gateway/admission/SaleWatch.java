package io.seckill.gateway.admission;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.admission.HighWaterMarks.Mark;
import io.seckill.gateway.admission.HighWaterMarks.Verdict;
import io.seckill.gateway.admission.StoredSales.Sale;
import io.seckill.gateway.redis.RedisBreaker;
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
 * Compares Redis with MySQL: before the first admission on a server's data, and then again and
 * again. A SKU is held while MySQL knows more of it than Redis (a higher epoch or sequence, or a
 * sale where Redis has none), or when a server that took over has fewer admissions than this
 * gateway knows of; the others go on. A gateway that knows nothing of a SKU relies on MySQL alone,
 * and so holds it until MySQL has everything that was published before the server took over.
 *
 * <p>One thread of its own, which hangs as long as MySQL does; nothing that a running sale needs
 * may wait for it. After a loss of data no order id is used before Redis has confirmed the worker
 * lease anew.
 */
final class SaleWatch implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(SaleWatch.class);
  private static final LuaScript INSPECT = LuaScript.from(SaleWatch.class, "inspect.lua");
  private static final long TICK_MS = 50;
  private static final int FIELDS = 3;

  private final UnifiedJedis redis;
  private final RedisBreaker breaker;
  private final StoredSales ledger;
  private final VerifiedServers servers;
  private final HighWaterMarks marks;
  private final LossReports reports;
  private final WorkerLeases leases;
  private final long intervalNanos;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(SaleWatch::daemon);
  private final ScheduledFuture<?> ticking;
  private long comparedNanos;
  private boolean mysqlAway;

  /** What Redis knows of a sale; epoch and sequence 0 and an empty state when it has none. */
  private record Data(String state, long epoch, long seq) {
    static final Data ABSENT = new Data("", 0, 0);
  }

  /** One partition as it was seen. */
  private record Partitioned(String replicationId, Map<Long, Data> sales) {}

  /** Where a loss is made known that MySQL does not show. */
  @FunctionalInterface
  interface LossReports {

    /** Redis has lost some of the admissions of this epoch up to this sequence. */
    Mono<?> report(long skuId, long epoch, long seq);
  }

  SaleWatch(
      UnifiedJedis redis,
      RedisBreaker breaker,
      StoredSales ledger,
      VerifiedServers servers,
      HighWaterMarks marks,
      LossReports reports,
      WorkerLeases leases,
      Duration interval) {
    this.redis = redis;
    this.breaker = breaker;
    this.ledger = ledger;
    this.servers = servers;
    this.marks = marks;
    this.reports = reports;
    this.leases = leases;
    this.intervalNanos = interval.toNanos();
    this.comparedNanos = System.nanoTime() - intervalNanos;
    this.ticking = thread.scheduleWithFixedDelay(this::tick, 0, TICK_MS, TimeUnit.MILLISECONDS);
  }

  /** Looks at once, not only at the next tick; called when a script met another server. */
  void wake() {
    if (!thread.isShutdown()) {
      thread.execute(this::tick);
    }
  }

  private void tick() {
    try {
      boolean due = System.nanoTime() - comparedNanos >= intervalNanos;
      if (due || !servers.allVerified()) {
        compare();
      }
    } catch (JedisException | CallNotPermittedException e) {
      log.debug("redis cannot be inspected: {}", e.toString());
    } catch (DataAccessException e) {
      if (!mysqlAway) {
        log.warn(
            "mysql cannot be asked; partitions that are not verified stay held: {}", e.toString());
      }
      mysqlAway = true;
    } catch (RuntimeException e) { // a throw would end the schedule
      log.error("the watch over the sales failed", e);
    }
  }

  /**
   * MySQL is read first: whatever it knows then, a Redis that lost nothing knows too when it is
   * read after.
   */
  private void compare() {
    Map<Integer, String> proven = ledger.provenServers(); // then what MySQL had when they were
    List<Sale> sales = ledger.all();
    mysqlAway = false;
    Map<Integer, List<Sale>> byPartition =
        sales.stream().collect(Collectors.groupingBy(sale -> Partition.ofSku(sale.skuId())));
    Map<Integer, Partitioned> seen = new TreeMap<>();
    for (int p = 0; p < Partition.COUNT; p++) {
      try {
        seen.put(p, inspect(p, byPartition.getOrDefault(p, List.of())));
      } catch (JedisException | CallNotPermittedException e) { // a node of a cluster may be away
        log.debug("partition {} cannot be inspected: {}", p, e.toString());
      }
    }
    mark(sales, seen, proven);
    boolean anew = hold(sales, suspects(sales, seen), seen);
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
    Map<Long, Data> data = new HashMap<>();
    for (int i = 0; i < sales.size(); i++) {
      int at = 1 + i * FIELDS;
      data.put(sales.get(i).skuId(), data(reply, at));
    }
    return new Partitioned((String) reply.get(0), data);
  }

  private static Data data(List<?> reply, int at) {
    String state = (String) reply.get(at);
    return state.isEmpty()
        ? Data.ABSENT
        : new Data(state, number(reply.get(at + 1)), number(reply.get(at + 2)));
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
        Data data = data(seen, sale.skuId());
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

  /** Until MySQL knows more than Redis, and so every gateway and the reconciliation do. */
  private void reportLoss(Sale sale, Mark mark) {
    log.error("sku {}: redis has lost admissions up to number {}", sale.skuId(), mark.seq());
    reports
        .report(sale.skuId(), mark.epoch(), mark.seq())
        .subscribe(
            answer -> {},
            failure -> log.warn("sku {}: the loss is not reported yet: {}", sale.skuId(), failure));
  }

  private Set<Long> suspects(List<Sale> sales, Map<Integer, Partitioned> seen) {
    return sales.stream()
        .filter(sale -> seen.containsKey(Partition.ofSku(sale.skuId())))
        .filter(sale -> isSuspect(sale, data(seen, sale.skuId())))
        .map(Sale::skuId)
        .collect(Collectors.toSet());
  }

  private static Data data(Map<Integer, Partitioned> seen, long skuId) {
    Partitioned partition = Objects.requireNonNull(seen.get(Partition.ofSku(skuId)));
    return partition.sales().getOrDefault(skuId, Data.ABSENT);
  }

  /**
   * Also a sale that does not sell: a repeat of a purchase that was admitted must not get a no from
   * data that have lost it. While a sale is loaded the scripts themselves answer neither yes nor
   * no.
   */
  private boolean isSuspect(Sale sale, Data data) {
    Mark mark = marks.of(sale.skuId());
    if (data.equals(Data.ABSENT)) {
      return sale.hasSold() || (mark != null && mark.seq() > 0);
    } else if (data.state().equals("PREHEATING")) {
      return false;
    }
    boolean behind = data.epoch() < sale.epoch() || data.seq() < sale.lastSeq();
    boolean sellsAlone = data.state().equals("OPEN") && !sale.sells();
    return behind || sellsAlone || (mark != null && mark.verdict() != Verdict.WHOLE);
  }

  /**
   * A sale that Redis calls open and MySQL does not was perhaps opened between the two readings;
   * MySQL, which is written first then, is asked again before it is held for that. Of a partition
   * that could not be read, what is held stays so.
   *
   * @return whether something is held that was not: a preheat may have changed it between the two
   *     readings, so it is looked at again at once
   */
  private boolean hold(List<Sale> sales, Set<Long> suspects, Map<Integer, Partitioned> seen) {
    Set<Long> held = new HashSet<>(servers.held());
    held.removeIf(skuId -> seen.containsKey(Partition.ofSku(skuId)));
    if (!suspects.isEmpty()) {
      held.addAll(suspects(inPresentState(sales, suspects), seen));
    }
    boolean anew = !servers.held().containsAll(held);
    report(held);
    long onSale =
        sales.stream().filter(sale -> held.contains(sale.skuId()) && !sale.isClosed()).count();
    servers.hold(held, (int) onSale);
    return anew;
  }

  /** Epoch and sequence stay those from before Redis was read, which has gone on since. */
  private List<Sale> inPresentState(List<Sale> sales, Set<Long> suspects) {
    Map<Long, String> states =
        ledger.all().stream().collect(Collectors.toMap(Sale::skuId, Sale::state));
    return sales.stream()
        .filter(sale -> suspects.contains(sale.skuId()))
        .map(sale -> sale.in(states.getOrDefault(sale.skuId(), sale.state())))
        .toList();
  }

  private void report(Set<Long> held) {
    held.stream().filter(skuId -> !servers.isHeld(skuId)).forEach(this::reportHold);
    for (Long skuId : servers.held()) {
      if (!held.contains(skuId)) {
        log.info("sku {} is no longer held", skuId);
      }
    }
  }

  private void reportHold(long skuId) {
    Mark mark = marks.of(skuId);
    if (mark != null && mark.verdict() == Verdict.UNPROVEN) {
      log.warn("sku {} is held until mysql has what was published before this redis", skuId);
    } else {
      log.error("sku {} is held: redis has lost orders of its sale, it must be rebuilt", skuId);
    }
  }

  /** After the holds are in force, and only under leases that this data confirms. */
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

  /** Ends the thread; one that hangs in MySQL is left to the driver's time-out. */
  @Override
  public void close() {
    ticking.cancel(false);
    thread.shutdown();
    try {
      if (!thread.awaitTermination(2, TimeUnit.SECONDS)) {
        log.warn("the watch over the sales still waits for a store");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "sale-watch");
    thread.setDaemon(true);
    return thread;
  }
}
