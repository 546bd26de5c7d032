package io.seckill.consumer.audit;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.orders.OrderTotals;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The audit of one sale on one day; a row of {@code daily_audit}. Orders are counted by their state
 * at that moment.
 *
 * @param units opening stock + added - withdrawn
 * @param stock units not sold
 * @param chargedCents money that was taken and kept
 * @param refundsDue refunds that the provider has not confirmed
 * @param repairs made by reconciliations on this day
 * @param differences the contradictions found, for operators; empty when all agrees
 * @param madeAt before anything of it was read
 * @param shards their audits, whose sums this one has; null for a SKU without shards
 */
record SaleAudit(
    LocalDate day,
    long skuId,
    String state,
    long units,
    long stock,
    OrderTotals confirmed,
    OrderTotals paid,
    OrderTotals cancelled,
    OrderTotals expired,
    OrderTotals rejected,
    long chargedCents,
    long refundedCents,
    long refundsDue,
    long repairs,
    List<String> differences,
    Instant madeAt,
    @JsonInclude(JsonInclude.Include.NON_NULL) @Nullable List<SaleAudit> shards) {

  /**
   * The audit of a SKU, from that of its own row and those of its shards; this one if it has none.
   */
  SaleAudit withShards(List<SaleAudit> parts) {
    SaleAudit sum = this;
    for (SaleAudit shard : parts) {
      sum = sum.plus(shard, parts);
    }
    return sum;
  }

  private SaleAudit plus(SaleAudit shard, List<SaleAudit> parts) {
    List<String> found = new ArrayList<>(differences);
    int number = Shards.shard(shard.skuId);
    shard.differences.forEach(one -> found.add("shard " + number + ": " + one));
    return new SaleAudit(
        day,
        skuId,
        state,
        units,
        stock + shard.stock,
        confirmed.plus(shard.confirmed),
        paid.plus(shard.paid),
        cancelled.plus(shard.cancelled),
        expired.plus(shard.expired),
        rejected.plus(shard.rejected),
        chargedCents + shard.chargedCents,
        refundedCents + shard.refundedCents,
        refundsDue + shard.refundsDue,
        repairs + shard.repairs,
        found,
        madeAt,
        parts);
  }
}
