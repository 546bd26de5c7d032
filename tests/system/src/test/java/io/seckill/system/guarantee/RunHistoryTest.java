package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.system.guarantee.GuaranteesTest.History;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A history that was written and read again is judged as the run was. */
class RunHistoryTest {

  private static final String SEEN = "WorksAgain: a lane without a lease";

  @TempDir private Path folder;

  @ParameterizedTest(name = "{0} says: {2}")
  @MethodSource("io.seckill.system.guarantee.GuaranteesTest#brokenHistories")
  void aWrongHistoryGetsTheSameComplaints(
      Guarantee guarantee, Consumer<History> change, String complaint) {
    History history = new History();
    change.accept(history);
    List<String> complaints = new ArrayList<>();
    guarantee.judge(history.sale(), history.purchases(), complaints);

    RunHistory again = writtenAndRead(history, List.of(guarantee), List.of(), complaints);

    assertThat(complaints).hasSize(1);
    assertThat(again.observed()).as("complaints kept as text").isEmpty();
    assertThat(again.judge()).isEqualTo(complaints);
  }

  @Test
  void aCorrectHistoryGetsNone() {
    for (List<Guarantee> guarantees : List.of(Guarantee.all(), Guarantee.afterFallback())) {
      List<Guarantee> afterwards = List.of(GuaranteesTest.goodLedger());

      RunHistory again = writtenAndRead(new History(), guarantees, afterwards, List.of());

      assertThat(again.guarantees()).hasSameSizeAs(guarantees);
      assertThat(again.afterwards()).hasSize(1);
      assertThat(again.judge()).isEmpty();
    }
  }

  @Test
  void whatTheFaultExplainsIsRecorded() {
    History history = new History();
    history.reject("QUOTA_EXCEEDED");
    history.alias();
    Explained explained = Explained.NOTHING.withRejections("QUOTA_EXCEEDED").withAliases();

    assertThat(writtenAndRead(history, Guarantee.all(explained), List.of(), List.of()).judge())
        .isEmpty();
    assertThat(writtenAndRead(history, Guarantee.all(), List.of(), List.of()).judge())
        .anyMatch(complaint -> complaint.startsWith("AdmittedOnce: "))
        .anyMatch(complaint -> complaint.startsWith("OutcomesStay: "));
  }

  @Test
  void complaintsAboutRunningServersAreKeptAsText() {
    RunHistory again = writtenAndRead(new History(), Guarantee.all(), List.of(), List.of(SEEN));

    assertThat(again.judge()).containsExactly(SEEN);
  }

  @Test
  void theLedgerIsNotJudgedAfterAComplaint() {
    History history = new History();
    history.stock = 11;

    RunHistory again =
        writtenAndRead(
            history, Guarantee.all(), List.of(GuaranteesTest.unansweredLedger()), List.of());

    assertThat(again.judge()).isNotEmpty().noneMatch(one -> one.startsWith("LedgerBalances"));
  }

  private RunHistory writtenAndRead(
      History history,
      List<Guarantee> guarantees,
      List<Guarantee> afterwards,
      List<String> complaints) {
    Path file = folder.resolve("histories").resolve("row.json");
    new RunHistory(
            "17 restarted",
            List.of("RabbitMQ restarted"),
            guarantees,
            afterwards,
            List.of(history.sale()),
            history.purchases(),
            complaints)
        .withoutWhatItRepeats()
        .write(file);
    return RunHistory.read(file);
  }
}
