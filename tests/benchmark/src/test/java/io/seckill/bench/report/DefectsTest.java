package io.seckill.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DefectsTest {

  private final Figures figures = new Figures();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "burst.lost",
        "e2e.lost",
        "alternatives.doubled",
        "burst.oversold",
        "burst.wrong_answers",
        "burst.broken_guarantees"
      })
  void namesWhatWasNotZeroInOneOfTheRepeats(String key) {
    figures.count(key, 0);
    figures.count(key, 3);
    figures.count(key, 0);

    assertThat(Defects.of(figures)).containsExactly(key + ": 0 to 3");
  }

  @Test
  void findsNothingInFiguresThatOnlyMeasure() {
    figures.count("burst.lost", 0);
    figures.add("e2e.sustained_per_s", 9_000);
    figures.count("e2e.click_to_row_100_failed", 2);

    assertThat(Defects.of(figures)).isEmpty();
  }
}
