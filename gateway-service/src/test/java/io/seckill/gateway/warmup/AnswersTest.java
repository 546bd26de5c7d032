package io.seckill.gateway.warmup;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AnswersTest {

  private final WarmUpAnswers answers = new WarmUpAnswers();

  @Test
  void claimsNothingWithoutAnswers() {
    assertThat(answers.whatIsWarm()).isEqualTo("nothing is warm");
  }

  @Test
  void claimsAllWhenMostWereAnsweredAsAdmitted() {
    answer(202, 2);
    answer(503, 1);

    assertThat(answers.whatIsWarm()).isEqualTo("warm is all of a purchase's way");
  }

  @Test
  void claimsTheWayToRedisWhenMostHaveBeenThere() {
    answer(503, 1);
    answer(404, 2);

    assertThat(answers.whatIsWarm()).contains("all of a purchase's way but its admission");
    assertThat(answers).hasToString("{404=2, 503=1}");
  }

  @Test
  void claimsHttpWhenMostWereStoppedBefore() {
    answer(404, 1);
    answer(401, 1);

    assertThat(answers.whatIsWarm()).contains("HTTP, little or nothing");
  }

  private void answer(int status, int times) {
    for (int i = 0; i < times; i++) {
      answers.add(status);
    }
  }
}
