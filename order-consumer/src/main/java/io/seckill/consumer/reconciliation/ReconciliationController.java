package io.seckill.consumer.reconciliation;

import io.seckill.consumer.products.Product;
import io.seckill.consumer.products.Products;
import io.seckill.consumer.reconciliation.Reconciler.Order;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisException;

/** Reconciliation on the internal port. */
@RestController
@RequestMapping("/internal/v1/skus/{sku}/reconciliation")
record ReconciliationController(
    Reconciler reconciler,
    Comparisons comparisons,
    ReconciliationTable table,
    Products products,
    AuditLog audit,
    Clock clock) {

  private static final Logger log = LoggerFactory.getLogger(ReconciliationController.class);

  /** The latest reports of a SKU, newest first. */
  record Reports(List<Report> reconciliations) {}

  /** A dry run only reports the differences. */
  record Request(boolean dryRun) {}

  @PostMapping
  Report run(@PathVariable String sku, Operator operator, @JsonBody Request body) {
    long skuId = PathIds.sku(sku);
    boolean dryRun = body.dryRun();
    return audit.audited(
        operator,
        "reconcile",
        "sku=" + skuId + " dryRun=" + dryRun,
        () -> runAll(skuId, new Order(dryRun, true, operator.name())),
        report -> "outcome=" + report.outcome() + " repairs=" + report.counts());
  }

  private Report runAll(long skuId, Order order) {
    List<Long> ids = soldIds(skuId);
    return ids.equals(List.of(skuId))
        ? run(skuId, order)
        : Report.ofShards(lostFirst(ids).stream().map(shard -> runOrNot(shard, order)).toList());
  }

  /** The others may wait long for their orders in flight, one after the other. */
  private List<Long> lostFirst(List<Long> shards) {
    List<Long> lost = shards.stream().filter(this::isLost).toList();
    return Stream.concat(lost.stream(), shards.stream().filter(shard -> !lost.contains(shard)))
        .toList();
  }

  private boolean isLost(long shard) {
    try {
      return comparisons.isLost(shard);
    } catch (JedisException e) { // the run reports it
      return false;
    }
  }

  /** A shard that cannot be reconciled now keeps no other from it. */
  private Report runOrNot(long shard, Order order) {
    Instant start = clock.instant();
    try {
      return run(shard, order);
    } catch (ProblemException e) {
      Found refused = new Found(RunOutcome.UNPROVEN, e.problem().text(), 0, new RepairLog());
      return Report.of(shard, order, refused, start, clock.instant());
    }
  }

  private List<Long> soldIds(long skuId) {
    return products
        .findBySkuId(skuId)
        .map(Product::soldIds)
        .filter(ids -> !ids.isEmpty())
        .orElse(List.of(skuId));
  }

  private Report run(long skuId, Order order) {
    try {
      return reconciler.run(skuId, order);
    } catch (UnreadableFieldException e) {
      throw ProblemException.of(ProblemCode.UNREADABLE_IN_REDIS, e.detail());
    } catch (JedisException e) {
      log.warn("sku {}: cannot be reconciled now: {}", skuId, e.toString());
      String reason =
          e instanceof JedisDataException
              ? "Redis refuses: " + e.getMessage()
              : "Redis does not answer";
      throw ProblemException.of(ProblemCode.UNAVAILABLE, reason + "; send the same request again.");
    }
  }

  @GetMapping
  Reports latest(@PathVariable String sku) {
    return new Reports(table.latest(soldIds(PathIds.sku(sku))));
  }
}
