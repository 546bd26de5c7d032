package io.seckill.gateway.verification;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.verification.HighWaterMarks.Mark;
import io.seckill.gateway.verification.HighWaterMarks.Verdict;
import java.util.Set;
import org.junit.jupiter.api.Test;

class HighWaterMarksTest {

  private static final long SKU = 1_001;

  private final HighWaterMarks marks = new HighWaterMarks();

  @Test
  void aServerThatTakesOverWithFewerAdmissionsHasLostSome() {
    marks.record("first", SKU, 1, 500);

    assertThat(found("second", 1, 499)).isEqualTo(Verdict.LOST);
  }

  @Test
  void aServerThatTakesOverWithAllAdmissionsIsWhole() {
    marks.record("first", SKU, 1, 500);

    assertThat(found("second", 1, 500)).isEqualTo(Verdict.WHOLE);
  }

  @Test
  void whatWasReadCountsAsWhatWasTold() {
    proven("first", 1, 500);

    assertThat(found("second", 1, 499)).isEqualTo(Verdict.LOST);
  }

  @Test
  void aLossIsNotForgottenWhenTheServerSellsOn() {
    marks.record("first", SKU, 1, 500);
    found("second", 1, 490);
    marks.record("second", SKU, 1, 600);

    assertThat(found("second", 1, 600)).isEqualTo(Verdict.LOST);
    assertThat(found("third", 1, 700)).isEqualTo(Verdict.LOST);
  }

  @Test
  void aNewEpochEndsALoss() {
    marks.record("first", SKU, 1, 500);
    found("second", 1, 490);

    assertThat(found("second", 2, 100)).isEqualTo(Verdict.WHOLE);
  }

  @Test
  void aLateAnswerOfTheFormerServerTellsOfALoss() {
    marks.record("first", SKU, 1, 500);
    found("second", 1, 500);
    marks.record("second", SKU, 1, 510);

    marks.record("first", SKU, 1, 505);

    assertThat(found("second", 1, 510)).isEqualTo(Verdict.LOST);
  }

  @Test
  void aLateAnswerUpToWhereTheNextServerBeganIsNoLoss() {
    marks.record("first", SKU, 1, 500);
    found("second", 1, 500);

    marks.record("first", SKU, 1, 500);

    assertThat(found("second", 1, 500)).isEqualTo(Verdict.WHOLE);
  }

  @Test
  void anAnswerOfAnEarlierEpochSaysNothing() {
    marks.record("first", SKU, 2, 100);

    marks.record("first", SKU, 1, 500);
    found("second", 1, 50);

    assertThat(found("second", 2, 100)).isEqualTo(Verdict.WHOLE);
  }

  @Test
  void anAnswerThatComesLateWithinOneServerIsNoLoss() {
    marks.record("first", SKU, 1, 500);

    marks.record("first", SKU, 1, 400);

    assertThat(found("first", 1, 450)).isEqualTo(Verdict.WHOLE);
    assertThat(found("second", 1, 450)).as("500 were admitted").isEqualTo(Verdict.LOST);
  }

  @Test
  void aSkuThatIsNotKnownIsUnprovenUntilMySqlHasWhatWasPublished() {
    assertThat(found("first", 1, 10)).isEqualTo(Verdict.UNPROVEN);
    assertThat(marks.found("first", SKU, 1, 10, false, true).verdict())
        .as("using the server does not prove a mark that exists")
        .isEqualTo(Verdict.UNPROVEN);
    assertThat(proven("first", 1, 10)).isEqualTo(Verdict.WHOLE);
  }

  @Test
  void aSkuThatAppearsOnAServerInUseIsWhole() {
    assertThat(marks.found("first", SKU, 1, 0, false, true).verdict()).isEqualTo(Verdict.WHOLE);
  }

  @Test
  void forgetsASaleThatIsOver() {
    marks.record("first", SKU, 1, 500);

    marks.retain(Set.of(SKU + 1));

    assertThat(marks.of(SKU)).isNull();
  }

  private Verdict found(String server, long epoch, long seq) {
    return marks.found(server, SKU, epoch, seq, false, false).verdict();
  }

  private Verdict proven(String server, long epoch, long seq) {
    Mark mark = marks.found(server, SKU, epoch, seq, true, false);
    return mark.verdict();
  }
}
