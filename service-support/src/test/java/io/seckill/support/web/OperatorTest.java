package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

class OperatorTest {

  @ParameterizedTest
  @NullAndEmptySource
  @ValueSource(strings = {"a b", "a\nb", "a\r", "a\tb", "é", "\u2028", "a\u007f"})
  void refusesNamesThatCouldForgeALogLine(String name) {
    assertThatThrownBy(() -> Operator.of(name)).isInstanceOf(ProblemException.class);
  }

  @Test
  void takesWhatTokensCallPeople() {
    assertThat(Operator.of("auth0|5f-x@example.org").name()).isEqualTo("auth0|5f-x@example.org");
  }
}
