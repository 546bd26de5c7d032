package io.seckill.consumer.archive;

import io.seckill.consumer.archive.ArchiveTable.DueSale;
import io.seckill.consumer.orders.OrderTotalTable;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.products.ProductSnapshot;
import io.seckill.consumer.runtime.ConnectionPools;
import io.seckill.consumer.runtime.Pace;
import io.seckill.consumer.runtime.RunLock;
import io.seckill.consumer.runtime.SqlFailure;
import io.seckill.consumer.runtime.Sweeper;
import io.seckill.consumer.sales.SaleTransitions;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongUnaryOperator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Archives sales that are at rest. A request makes a closed strong sale of it; {@link #round} then
 * removes it from Redis and moves its rows, page by page, each page in one transaction. So every
 * row is in one table at any time, and an archive that was cut off goes on where it was.
 */
@Component
record SaleArchiver(
    ArchiveTable table,
    SaleRest rest,
    ArchiveSteps steps,
    SaleTransitions sales,
    ConnectionPools pools,
    JdbcClient jdbc,
    TransactionOperations transactions,
    Pace pace) {

  private static final Logger log = LoggerFactory.getLogger(SaleArchiver.class);

  private static final String SCHEDULE = "schedule";

  /** Gateways read within two seconds that MySQL refuses the purchases; the rest is for clocks. */
  private static final Duration GATEWAYS_KNOW = Duration.ofSeconds(5);

  /** Longer than a page and its rest take, and than the wait for a barrier. */
  private static final Duration LOCK_SILENCE = Duration.ofMinutes(2);

  private static final Duration ROUND_PAUSE = Duration.ofSeconds(5);
  private static final int DUE_PAGE = 1_000;
  private static final Duration DUE_PAUSE = Duration.ofMinutes(10);

  /**
   * Begins the archive of a sale with all its shards; {@link #round} completes it. A repeat shows
   * how far it is.
   *
   * @throws ProblemException 404 UNKNOWN_SKU; 409 NOT_AT_REST naming all that is missing, nothing
   *     is changed
   * @throws JedisException when Redis is unavailable and the sale is not a strong one
   */
  SaleArchive begin(long sku, String startedBy) {
    return beginWhole(find(sku), startedBy);
  }

  private SaleArchive beginWhole(ProductSnapshot sale, String startedBy) {
    long sku = sale.skuId();
    List<Long> shards = sale.shardIds();
    List<ProductSnapshot> running =
        Stream.concat(Stream.of(sale), shards.stream().map(this::find))
            .filter(row -> !row.archived())
            .toList();
    if (!running.isEmpty()) {
      refuse(rest.missing(running));
      transactions.executeWithoutResult(tx -> running.forEach(row -> begin(row, startedBy)));
      log.info("sku {}: {} has it archived", sku, startedBy);
    }
    SaleArchive whole = table.find(sku).orElseThrow();
    for (long shard : shards) {
      whole = whole.with(table.find(shard).orElseThrow());
    }
    return whole;
  }

  private ProductSnapshot find(long sku) {
    return ProductRows.find(jdbc, sku)
        .orElseThrow(() -> ProblemException.of(ProblemCode.UNKNOWN_SKU));
  }

  private static void refuse(List<String> missing) {
    if (!missing.isEmpty()) {
      throw ProblemException.of(
          ProblemCode.NOT_AT_REST,
          "Archive it when nothing of it is pending. Now: " + String.join("; ", missing) + ".");
    }
  }

  /** Nothing of a closed sale at rest changes, unless an operator opens, loads or edits it. */
  private void begin(ProductSnapshot seen, String startedBy) {
    long sku = seen.skuId();
    ProductSnapshot sale = ProductRows.lock(jdbc, sku).orElseThrow();
    if (sale.archived()) {
      return; // another request was faster
    }
    refuse(SaleRest.obstacles(sale));
    if (sale.epoch() != seen.epoch()
        || sale.settled() != seen.settled()
        || !sale.closesAt().equals(seen.closesAt())) {
      refuse(List.of("it has changed meanwhile"));
    }
    ArchivePhase phase = sale.phase().redisDecides() ? ArchivePhase.REDIS : ArchivePhase.ORDERS;
    table.begin(sku, phase, OrderTotalTable.decided(jdbc, sku).orders(), startedBy);
  }

  @Bean
  Sweeper archiveSweeper() {
    return new Sweeper("archive", ROUND_PAUSE, this::round);
  }

  @Bean
  Sweeper dueArchivesSweeper(ArchiveProperties settings) {
    return new Sweeper("due-archives", DUE_PAUSE, () -> beginDue(settings.after()));
  }

  /** Closes and begins to archive the sales that closed this long ago; zero for none. */
  void beginDue(Duration after) {
    beginDue(after, DUE_PAGE);
  }

  /**
   * @param page sales read at once; those that cannot be archived now keep no other from it
   */
  void beginDue(Duration after, int page) {
    DueSale last = DueSale.FIRST;
    List<DueSale> due;
    do {
      due = after.isZero() ? List.of() : table.due(after, last, page);
      for (DueSale sale : due) {
        if (Thread.currentThread().isInterrupted()) {
          return;
        }
        last = sale;
        beginOrWait(sale);
      }
    } while (due.size() == page);
  }

  /** Sales before it may have taken minutes: one that was extended since may sell again. */
  private void beginOrWait(DueSale due) {
    long sku = due.skuId();
    try {
      sales.close(sku, due.closesAt());
      ProductSnapshot closed = find(sku);
      if (closed.closesAt().equals(due.closesAt())) {
        var unused = beginWhole(closed, SCHEDULE);
      }
    } catch (RuntimeException e) {
      SqlFailure.throwIfAway(e);
      log.warn("sku {}: cannot be archived now: {}", sku, e.toString());
    }
  }

  /** Continues all archives, unless another process does. */
  void round() {
    List<Long> unfinished = table.unfinished();
    if (unfinished.isEmpty()) {
      return;
    }
    try (RunLock lock =
        RunLock.take(pools.reconciliation(), "archive", LOCK_SILENCE).orElse(null)) {
      for (long sku : unfinished) {
        if (lock != null && lock.isHeld()) {
          proceedOrWait(sku, lock);
        }
      }
    }
  }

  /** Deletes the histories that were archived this long ago; zero for none. */
  void purge(Duration keep) {
    if (!keep.isZero()) {
      table.doneBefore(keep).forEach(this::purgeOrWait);
    }
  }

  private void purgeOrWait(long sku) {
    try {
      pages(sku, () -> true, last -> steps.purge(sku, last));
    } catch (RuntimeException e) { // the others go on
      SqlFailure.throwIfAway(e);
      log.warn("sku {}: its history cannot be deleted now: {}", sku, e.toString());
    }
  }

  /** A part of Redis that is away, or something foreign in it, keeps no other archive waiting. */
  private void proceedOrWait(long sku, RunLock lock) {
    try {
      proceed(sku, lock);
    } catch (RuntimeException e) {
      log.warn("sku {}: the archive waits: {}", sku, e.toString());
    }
  }

  private void proceed(long sku, RunLock lock) {
    SaleArchive archive = table.find(sku).orElseThrow();
    if (archive.phase() == ArchivePhase.REDIS) {
      if (!table.isOlderThan(sku, GATEWAYS_KNOW)) {
        return;
      }
      leaveRedis(sku);
    }
    if (pages(sku, lock::isHeld, last -> steps.moveOrders(sku, last))
        && pages(sku, lock::isHeld, last -> steps.deleteRest(sku, last))) {
      table.find(sku).ifPresent(done -> log.info("Archived: {}", done));
    }
  }

  /**
   * A transaction that began before the archive may store a message that comes again; it is over
   * when the barrier has passed, and later ones refuse it.
   */
  private void leaveRedis(long sku) {
    steps.removeFromRedis(find(sku));
    if (rest.hasNothingInFlight(sku)) {
      table.end(sku, ArchivePhase.REDIS);
    } else {
      log.warn("sku {}: the archive waits; messages of it may still be on their way", sku);
    }
  }

  /**
   * Does step after step until one finds nothing to do.
   *
   * @param step takes the end of the page before, 0 for none, and returns that of its own; 0 when
   *     the phase is over, or another one
   * @return false when the work was cut off
   */
  private boolean pages(long sku, BooleanSupplier mayGoOn, LongUnaryOperator step) {
    long last = 0;
    do {
      if (Thread.currentThread().isInterrupted() || !mayGoOn.getAsBoolean()) {
        log.info("sku {}: the archive was cut off, and goes on later", sku);
        return false;
      }
      long after = last;
      last = pace.step(() -> step.applyAsLong(after));
    } while (last > 0);
    return true;
  }
}
