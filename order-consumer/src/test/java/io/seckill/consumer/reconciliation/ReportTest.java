package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReportTest {

  @Test
  void anotherRunMayFindWhatAnIncompleteOneWithoutFindingsHasLeft() {
    assertThat(report(RunOutcome.FOUND, Map.of()).needsAnotherRun()).isTrue();
  }

  @Test
  void anotherRunFindsTheSameThatIsOnlyReported() {
    Map<RepairKind, Integer> reported = Map.of(RepairKind.STATE_DIFFERS, 1);

    assertThat(report(RunOutcome.FOUND, reported).needsAnotherRun()).isFalse();
    assertThat(report(RunOutcome.CLEAN, Map.of()).needsAnotherRun()).isFalse();
  }

  private static Report report(RunOutcome outcome, Map<RepairKind, Integer> counts) {
    Instant now = Instant.ofEpochSecond(1_790_000_000);
    return new Report(
        null, 7, "schedule", false, outcome, "", 1, counts, List.of(), now, now, null);
  }
}
