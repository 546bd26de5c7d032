package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.json.JsonMapper;

class ProblemTest {

  private static final JsonMapper JSON = JsonMapper.shared();

  @Test
  void isOneFlatJsonObject() {
    Problem problem =
        ProblemException.ofField(ProblemCode.IMMUTABLE_AFTER_PREHEAT, "Not now.", "closesAt")
            .problem();

    assertThat(JSON.readTree(problem.json("correlated")))
        .isEqualTo(
            JSON.readTree(
                """
                {"type": "urn:seckill:problem:IMMUTABLE_AFTER_PREHEAT",
                 "title": "This cannot change after the first preheat", "status": 409,
                 "code": "IMMUTABLE_AFTER_PREHEAT", "detail": "Not now.", "field": "closesAt",
                 "correlationId": "correlated"}
                """));
  }

  @Test
  void omitsWhatThereIsNotToSay() {
    assertThat(JSON.readTree(Problem.of(ProblemCode.SOLD_OUT).json(null)))
        .isEqualTo(
            JSON.readTree(
                """
                {"type": "urn:seckill:problem:SOLD_OUT", "title": "No unit is left",
                 "status": 409, "code": "SOLD_OUT"}
                """));
  }

  @ParameterizedTest
  @EnumSource(names = {"UNAVAILABLE", "BUSY", "TOO_MANY_REQUESTS"})
  void saysWhenToAskAgain(ProblemCode code) {
    assertThat(Problem.of(code).headers()).isEqualTo(Map.of("Retry-After", "1"));
  }

  @Test
  void asksForATokenWhenThereIsNone() {
    assertThat(Problem.of(ProblemCode.UNAUTHORIZED).headers())
        .isEqualTo(Map.of("WWW-Authenticate", "Bearer"));
  }

  @ParameterizedTest
  @CsvSource({
    "404, UNKNOWN_ORDER, UNKNOWN_ORDER",
    "409, FROM_A_LATER_RELEASE, REFUSED",
    "404, FROM_A_LATER_RELEASE, NOT_FOUND",
    "409, INTERNAL_ERROR, REFUSED",
    "400,, INVALID_REQUEST",
    "502,, INTERNAL_ERROR"
  })
  void keepsTheStatusOfACodeThatIsUnknownHere(int status, String name, ProblemCode expected) {
    assertThat(ProblemCode.of(status, name)).isEqualTo(expected);
  }
}
