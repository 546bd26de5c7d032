package io.seckill.consumer.audit;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.audit.AuditTable.Standing;
import io.seckill.consumer.loading.DatabaseSnapshot;
import io.seckill.consumer.loading.DatabaseSnapshots;
import io.seckill.consumer.loading.SaleOrders;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.reconciliation.Reconciler;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.ConnectionShare;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.stereotype.Component;

/**
 * Audits every sale once a day, in one of several processes. Each audit is stored when it is made,
 * so a run that was cut off goes on with the sales that are left.
 */
@Component
class DailyAudit {

  /** Of the day, UTC: its audits become due. */
  private static final int HOUR = 3;

  private static final Logger log = LoggerFactory.getLogger(DailyAudit.class);

  /** Longer than the audit of one large sale takes between two looks at the lock. */
  private static final Duration LOCK_SILENCE = Duration.ofMinutes(10);

  private static final Duration PAUSE = Duration.ofMinutes(1);

  private final DatabaseSnapshots snapshots;
  private final AuditTable table;
  private final Reconciler reconciler;
  private final ConnectionPools pools;
  private final Pace pace;
  private final ConnectionShare connections = new ConnectionShare(ConnectionPools.AUDITS);

  /** Audits that rounds have begun and could not make yet, by SKU. */
  private final Map<Long, AuditRun> begun = new HashMap<>();

  private volatile Standing standing = new Standing(0, 0);

  DailyAudit(
      DatabaseSnapshots snapshots,
      AuditTable table,
      Reconciler reconciler,
      ConnectionPools pools,
      Pace pace,
      MeterRegistry meters) {
    this.snapshots = snapshots;
    this.table = table;
    this.reconciler = reconciler;
    this.pools = pools;
    this.pace = pace;
    Gauge.builder("seckill.consumer.audit.due", () -> standing.due())
        .description("Sales whose daily audit is due and has not been made")
        .register(meters);
    Gauge.builder("seckill.consumer.audit.differences", () -> standing.differences())
        .description("Differences that the audits of the last day have found")
        .register(meters);
  }

  @Bean
  Sweeper auditSweeper() {
    return new Sweeper("daily-audit", PAUSE, this::round);
  }

  /** Makes the audits that are due, unless another process does. */
  void round() {
    LocalDate day = today();
    Instant due = due(day);
    List<Long> sales = table.due(due);
    begun.keySet().retainAll(sales);
    if (!sales.isEmpty()) {
      try (RunLock lock =
          RunLock.take(pools.reconciliation(), "daily-audit", LOCK_SILENCE).orElse(null)) {
        for (long sku : sales) {
          if (lock == null || !lock.isHeld() || Thread.currentThread().isInterrupted()) {
            break;
          }
          auditOrWait(sku, day, pace.steps(lock));
        }
      }
    }
    standing = table.standing(due);
  }

  /**
   * A sale that cannot be audited now stays due, and keeps no other waiting. The next round keeps
   * the comparisons of this day that found no difference: one of a shard may take an hour.
   */
  private void auditOrWait(long sku, LocalDate day, Runnable stepEnds) {
    try {
      AuditRun last = begun.get(sku);
      AuditRun run =
          last != null && last.day().equals(day) ? last.with(stepEnds) : begin(day, stepEnds);
      begun.put(sku, run);
      var unused = audit(sku, run, id -> reconciler.differences(id, stepEnds));
    } catch (RuntimeException e) {
      log.warn("sku {}: cannot be audited now: {}", sku, e.toString());
    }
  }

  private static Instant due(LocalDate day) {
    return day.atTime(HOUR, 0).toInstant(ZoneOffset.UTC);
  }

  /** The day whose audits are due, or made. */
  LocalDate today() {
    return LocalDate.ofInstant(table.now().minus(Duration.ofHours(HOUR)), ZoneOffset.UTC);
  }

  /**
   * Audits a sale now, and replaces its audit of the day.
   *
   * @throws ProblemException 404 UNKNOWN_SKU; 409 ARCHIVED when the history of the sale is deleted;
   *     503 BUSY while another operator's audit runs
   */
  SaleAudit audit(long sku) {
    return connections
        .within(() -> audit(sku, begin(today(), () -> {}), reconciler::differences))
        .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU));
  }

  /**
   * @param madeAt before anything is read
   * @param inRedis the differences in Redis found so far, by SKU
   */
  private record AuditRun(
      LocalDate day, Instant madeAt, Map<Long, List<String>> inRedis, Runnable stepEnds) {

    AuditRun with(Runnable ends) {
      return new AuditRun(day, madeAt, inRedis, ends);
    }
  }

  private AuditRun begin(LocalDate day, Runnable stepEnds) {
    return new AuditRun(day, table.now(), new HashMap<>(), stepEnds);
  }

  private Optional<SaleAudit> audit(long sku, AuditRun run, LongFunction<List<String>> comparison) {
    List<Long> shards =
        snapshots.read(mysql -> mysql.sale(sku)).map(ProductSnapshot::shardIds).orElse(List.of());
    for (long id : shards.isEmpty() ? List.of(sku) : shards) {
      List<String> before = run.inRedis().get(id);
      if (before == null || !before.isEmpty()) { // what differed may be repaired by now
        run.inRedis().put(id, comparison.apply(id));
      }
    }
    Optional<SaleAudit> made =
        snapshots.read(mysql -> mysql.sale(sku).map(sale -> count(sale, mysql, run)));
    made.ifPresent(
        audit -> {
          table.keep(audit);
          audit.differences().forEach(found -> log.error("sku {}: audit: {}", sku, found));
        });
    return made;
  }

  private SaleAudit count(ProductSnapshot sku, DatabaseSnapshot mysql, AuditRun run) {
    List<SaleAudit> shards =
        sku.shardIds().stream()
            .sorted(Comparator.comparingInt(Shards::shard))
            .map(id -> mysql.sale(id).orElseThrow())
            .map(shard -> count(shard, 0, mysql, run))
            .toList();
    long inShards = shards.stream().mapToLong(SaleAudit::units).sum();
    return count(sku, inShards, mysql, run).withShards(shards);
  }

  private SaleAudit count(
      ProductSnapshot sale, long inShards, DatabaseSnapshot mysql, AuditRun run) {
    SaleCount count = new SaleCount();
    add(sale, mysql.stored(), count, run.stepEnds());
    if (sale.archived()) {
      if (mysql.isPurged(sale.skuId())) {
        throw ProblemException.of(
            ProblemCode.ARCHIVED,
            "The orders of this sale are deleted; there is nothing to count.");
      }
      add(sale, mysql.history(), count, run.stepEnds());
    }
    if (SaleCount.keepsQuotas(sale)) {
      mysql.quotas(
          sale.skuId(),
          page -> {
            count.addQuotas(page);
            run.stepEnds().run();
          });
    }
    List<String> differences =
        new ArrayList<>(count.differences(sale, inShards, mysql.totals(sale.skuId())));
    differences.addAll(run.inRedis().getOrDefault(sale.skuId(), List.of()));
    return new SaleAudit(
        run.day(),
        sale.skuId(),
        sale.state(),
        sale.initialStock(),
        sale.stock(),
        count.of(OrderStatus.CONFIRMED),
        count.of(OrderStatus.PAID),
        count.of(OrderStatus.CANCELLED),
        count.of(OrderStatus.EXPIRED),
        count.of(OrderStatus.REJECTED),
        count.chargedCents(),
        count.refundedCents(),
        count.refundsDue(),
        table.repairs(sale.skuId(), due(run.day())),
        differences,
        run.madeAt(),
        null);
  }

  private static void add(
      ProductSnapshot sale, SaleOrders orders, SaleCount count, Runnable stepEnds) {
    orders.pages(
        sale.skuId(),
        page -> {
          count.add(page, orders.payments(page.keySet()));
          stepEnds.run();
        });
  }
}
