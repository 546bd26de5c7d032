package io.seckill.consumer.reconciliation;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.consumer.loading.LostOrderConsent;
import io.seckill.consumer.products.ProductSnapshot;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.springframework.stereotype.Component;

/**
 * An operator consents to give up lost orders by a dry run that lists these very orders. Runs of
 * the schedule and of a fallback, which nobody reads, are no consent, nor is a run that repairs.
 *
 * <p>A dry run lists at most {@value RepairLog#MOST_KEPT}, those of the first buckets. If it has
 * listed so many, it is consent for the orders of the buckets behind them, too.
 */
@Component
record DryRunConsent(RedisSale sales, LostOrders lost, ReconciliationTable table)
    implements LostOrderConsent {

  @Override
  public boolean hasDryRun(long skuId, long epoch) {
    return !table.dryRuns(skuId, epoch).isEmpty();
  }

  /** Orders without a record have ended, held no unit, and were forgotten: nothing lists them. */
  @Override
  public Review review(ProductSnapshot sale) {
    UnlistedOrders missing = new UnlistedOrders(table.dryRuns(sale.skuId(), sale.epoch()));
    try {
      lost.missing(sale, sales.state(sale.skuId()).bucketCount(), missing::add);
    } catch (UnreadableFieldException e) {
      return new Review(0, Optional.of(e.detail()));
    }
    return new Review(missing.all, missing.objection());
  }

  /** The orders that MySQL lacks, in the order of their buckets. For one thread. */
  static final class UnlistedOrders {

    private final Set<String> listed = new HashSet<>();
    private final boolean hasFullList;
    private final List<String> unlisted = new ArrayList<>();
    private int unlistedBeforeListed;
    private int sendable;
    private long all;

    /**
     * @param dryRuns the ids that each dry run has listed
     */
    UnlistedOrders(Collection<Set<String>> dryRuns) {
      dryRuns.forEach(listed::addAll);
      hasFullList = dryRuns.stream().anyMatch(orders -> orders.size() >= RepairLog.MOST_KEPT);
    }

    /** Adds those of the next buckets. */
    void add(Map<OrderId, AdmissionRecord> missing) {
      all += missing.size();
      List<String> found = new ArrayList<>();
      missing.forEach(
          (id, order) -> {
            if (LostOrders.isSendable(order)) {
              sendable++;
            } else {
              found.add(id.toString());
            }
          });
      if (found.stream().anyMatch(listed::contains)) {
        unlistedBeforeListed = unlisted.size();
      }
      found.stream().filter(id -> !listed.contains(id)).forEach(unlisted::add);
    }

    Optional<String> objection() {
      if (sendable > 0) {
        return Optional.of(
            ("MySQL lacks %d orders that can be sent again: reconcile the sale with look, then with"
                    + " repair.")
                .formatted(sendable));
      }
      List<String> unseen =
          hasFullList ? unlisted.subList(0, unlistedBeforeListed) : List.copyOf(unlisted);
      return unseen.isEmpty() ? Optional.empty() : Optional.of(text(unseen));
    }

    private static String text(List<String> orders) {
      return ("MySQL has lost %d orders that Redis shows as paid or ended, and no look has listed"
              + " them: %s. Reconcile it with look (a dry run); then a preheat gives them up.")
          .formatted(orders.size(), RepairLog.named(orders));
    }
  }
}
