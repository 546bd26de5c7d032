package io.seckill.consumer.reconciliation;

import com.fasterxml.jackson.annotation.JsonFormat;
import io.seckill.support.web.SkuIdSerializer;
import java.time.Instant;
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
 * @param repairs the first {@value #MOST_SHOWN}
 */
record Report(
    @Nullable Long id,
    @JsonSerialize(using = SkuIdSerializer.class) long skuId,
    String startedBy,
    boolean dryRun,
    Outcome outcome,
    String detail,
    long epoch,
    Map<RepairKind, Integer> counts,
    List<Repair> repairs,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant startedAt,
    @JsonFormat(shape = JsonFormat.Shape.STRING) Instant endedAt) {

  static final int MOST_SHOWN = 100;

  static Map<RepairKind, Integer> count(List<Repair> repairs) {
    Map<RepairKind, Integer> counts = new TreeMap<>();
    repairs.forEach(repair -> counts.merge(repair.kind(), 1, Integer::sum));
    return counts;
  }

  /** Whether another run may find less; a finding that only operators can repair is found again. */
  boolean needsAnotherRun() {
    return outcome != Outcome.CLEAN
        && !(outcome == Outcome.FOUND
            && counts.keySet().stream().allMatch(RepairKind::isOnlyReported));
  }

  Report withId(long row) {
    return new Report(
        row, skuId, startedBy, dryRun, outcome, detail, epoch, counts, repairs, startedAt, endedAt);
  }
}
