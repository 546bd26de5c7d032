package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RepairLogTest {

  private final RepairLog log = new RepairLog();

  @Test
  void countsARepairOnceThatIsFoundAgain() {
    log.add(repair(1, true));
    log.add(repair(2, true));
    log.add(repair(1, false));
    log.add(Repair.of(RepairKind.STOCK_SET, 1, "1", "2", true));

    assertThat(log.counts()).isEqualTo(Map.of(RepairKind.QUOTA_SET, 2, RepairKind.STOCK_SET, 1));
    assertThat(log.countsMade())
        .isEqualTo(Map.of(RepairKind.QUOTA_SET, 1, RepairKind.STOCK_SET, 1));
    assertThat(log.first(9)).hasSize(3).first().isEqualTo(repair(1, false));
  }

  @Test
  void countsAllAndKeepsTheFirst() {
    int all = RepairLog.MOST_KEPT + 500;
    IntStream.range(0, all).forEach(subject -> log.add(repair(subject, subject % 2 == 0)));

    assertThat(log.size()).isEqualTo(all);
    assertThat(log.sizeMade()).isEqualTo(all / 2);
    assertThat(log.first(all)).hasSize(RepairLog.MOST_KEPT);
  }

  @Test
  void keepsThoseThatAreOnlyReportedBesideManyOthersAndBeforeThem() {
    int all = RepairLog.MOST_KEPT + 1;
    IntStream.range(0, all).forEach(subject -> log.add(repair(subject, true)));
    IntStream.range(0, all).forEach(order -> log.add(lost(order)));

    assertThat(log.reported()).isEqualTo(RepairLog.MOST_KEPT);
    assertThat(log.first(2)).containsExactly(lost(0), lost(1));
    assertThat(log.first(3 * all)).hasSize(2 * RepairLog.MOST_KEPT);
  }

  private static Repair lost(int order) {
    return Repair.of(RepairKind.ORDER_NOT_IN_MYSQL, order, "PAID", "units 1", false);
  }

  private static Repair repair(int subject, boolean made) {
    return Repair.of(RepairKind.QUOTA_SET, subject, "1", "2", made);
  }
}
