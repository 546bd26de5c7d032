package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class PathIdsTest {

  @ParameterizedTest
  @ValueSource(longs = {1, 9_007_199_254_740_993L, Long.MAX_VALUE})
  void readsNumbersUpToTheLargest(long number) {
    assertThat(PathIds.number("user", Long.toString(number))).isEqualTo(number);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "0", "-1", "+1", "01", "1.0", "1e3", " 1", "9223372036854775808", "٣"})
  void refusesWhatIsNoNumber(String text) {
    assertThatThrownBy(() -> PathIds.number("user", text))
        .isInstanceOfSatisfying(
            ProblemException.class, e -> assertThat(e.problem().field()).isEqualTo("user"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0000-01-01", "2024-02-29", "9999-12-31"})
  void readsDays(String text) {
    assertThat(PathIds.day("from", text)).hasToString(text);
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(
      strings = {"", "today", "2026-02-29", "2026-1-1", "+10000-01-01", "-0001-01-01", "20261125"})
  void refusesWhatIsNoDay(@Nullable String text) {
    assertThatThrownBy(() -> PathIds.day("from", text))
        .isInstanceOfSatisfying(
            ProblemException.class, e -> assertThat(e.problem().field()).isEqualTo("from"));
  }
}
