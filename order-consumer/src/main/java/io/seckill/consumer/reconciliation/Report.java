package io.seckill.consumer.reconciliation;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.reconciliation.Reconciler.Order;
import io.seckill.support.web.SkuIdSerializer;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.annotation.JsonSerialize;

/**
 * One reconciliation, as operators see it.
 *
 * @param id of its row; null when it was not stored
 * @param epoch of the sale when it ended
 * @param counts repairs by kind
 * @param shards those of a run for all shards of a SKU; null for one sale
 */
record Report(
    @Nullable Long id,
    @JsonSerialize(using = SkuIdSerializer.class) long skuId,
    String startedBy,
    boolean dryRun,
    RunOutcome outcome,
    String detail,
    long epoch,
    Map<RepairKind, Integer> counts,
    List<Repair> repairs,
    Instant startedAt,
    Instant endedAt,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<Report> shards) {

  static final int MOST_SHOWN = 100;

  /** The report of a run that has ended, before it is stored. */
  static Report of(long skuId, Order order, Found found, Instant start, Instant end) {
    return new Report(
        null,
        skuId,
        order.startedBy(),
        order.dryRun(),
        found.outcome(),
        found.detail(),
        found.epoch(),
        found.repairs().counts(),
        found.repairs().first(MOST_SHOWN),
        start,
        end,
        null);
  }

  /** The number of the shard that was reconciled; null for a SKU. */
  @JsonProperty
  @JsonInclude(JsonInclude.Include.NON_NULL)
  @Nullable Integer shard() {
    return Shards.isShard(skuId) ? Integer.valueOf(Shards.shard(skuId)) : null;
  }

  /**
   * The report of a SKU, of at least one part: the outcome of the shard that needs an operator
   * most, and the findings of all.
   *
   * @param parts in the order in which they ran
   */
  static Report ofShards(List<Report> parts) {
    Report worst = parts.stream().max(Comparator.comparing(Report::outcome)).orElseThrow();
    Map<RepairKind, Integer> counts = new TreeMap<>();
    parts.forEach(part -> part.counts.forEach((kind, n) -> counts.merge(kind, n, Integer::sum)));
    return new Report(
        worst.id,
        Shards.sku(worst.skuId),
        worst.startedBy,
        worst.dryRun,
        worst.outcome,
        worst.detail.isEmpty() ? "" : "shard " + worst.shard() + ": " + worst.detail,
        worst.epoch,
        counts,
        parts.stream().flatMap(part -> part.repairs.stream()).limit(MOST_SHOWN).toList(),
        parts.get(0).startedAt,
        parts.get(parts.size() - 1).endedAt,
        parts.stream().sorted(Comparator.comparingInt(part -> Shards.shard(part.skuId))).toList());
  }

  /** Whether another run may find less; a finding that only operators can repair is found again. */
  boolean needsAnotherRun() {
    return outcome != RunOutcome.CLEAN
        && !(outcome == RunOutcome.FOUND
            && !counts.isEmpty()
            && counts.keySet().stream().allMatch(RepairKind::isOnlyReported));
  }

  Report withRepairs(Map<RepairKind, Integer> itsCounts, List<Repair> first) {
    return new Report(
        id, skuId, startedBy, dryRun, outcome, detail, epoch, itsCounts, first, startedAt, endedAt,
        shards);
  }

  Report withId(long row) {
    return new Report(
        row, skuId, startedBy, dryRun, outcome, detail, epoch, counts, repairs, startedAt, endedAt,
        shards);
  }
}
