package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class ProblemTest {

  private static final JsonMapper JSON = JsonMapper.shared();

  @Test
  void isOneFlatJsonObject() {
    Problem problem = ProblemException.fieldConflict("TOO_LATE", "Not now.", "closesAt").problem();

    assertThat(JSON.readTree(problem.json("correlated")))
        .isEqualTo(
            JSON.readTree(
                """
                {"type": "urn:seckill:problem:TOO_LATE", "title": "Conflict", "status": 409,
                 "code": "TOO_LATE", "detail": "Not now.", "field": "closesAt",
                 "correlationId": "correlated"}
                """));
  }

  @Test
  void saysWhenToAskAgain() {
    Problem problem = ProblemException.unavailable("Nobody is there.").problem();

    assertThat(problem.headers()).isEqualTo(Map.of("Retry-After", "1"));
    assertThat(problem.code()).isEqualTo("UNAVAILABLE");
  }

  @Test
  void asksForATokenWhenThereIsNone() {
    assertThat(Problem.UNAUTHENTICATED.headers()).isEqualTo(Map.of("WWW-Authenticate", "Bearer"));
  }
}
