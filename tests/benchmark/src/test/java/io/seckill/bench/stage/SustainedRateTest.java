package io.seckill.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class SustainedRateTest {

  private static final int REFINEMENTS = 3;

  private final List<Double> tried = new ArrayList<>();

  @Test
  void comesCloseToWhatIsKeptUpAndNotAboveIt() throws Exception {
    double found = search(rate -> rate <= 12_345);

    assertThat(found).isLessThanOrEqualTo(12_345).isCloseTo(12_345, Percentage.withPercentage(6));
  }

  @Test
  void triesTheRateItNamesTwice() throws Exception {
    double found = search(rate -> rate <= 12_345);

    assertThat(tried).filteredOn(rate -> rate == found).hasSize(2);
  }

  @Test
  void goesBackWhenTheSecondTrialFails() throws Exception {
    double found = search(rate -> rate <= 8_000 || (rate <= 12_345 && times(rate) == 1));

    assertThat(found).isLessThanOrEqualTo(8_000).isCloseTo(8_000, Percentage.withPercentage(10));
    assertThat(tried).filteredOn(rate -> rate == found).hasSize(2);
  }

  @Test
  void findsARateBelowTheFirstOneTried() throws Exception {
    assertThat(search(rate -> rate <= 900)).isBetween(700.0, 900.0);
  }

  @Test
  void endsWithNothingWhenNothingIsKeptUp() throws Exception {
    assertThat(search(rate -> false)).isZero();
    assertThat(tried).allMatch(rate -> rate >= 300);
  }

  @Test
  void endsWithNothingWhenNothingIsKeptUpTwice() throws Exception {
    assertThat(search(rate -> rate <= 12_345 && times(rate) == 1)).isZero();
  }

  private double search(SustainedRate.Trial trial) throws Exception {
    return new SustainedRate(
            rate -> {
              tried.add(rate);
              return trial.keepsUp(rate);
            },
            REFINEMENTS)
        .search();
  }

  /** Returns how often a rate was tried, including this time. */
  private long times(double rate) {
    return tried.stream().filter(other -> other == rate).count();
  }
}
