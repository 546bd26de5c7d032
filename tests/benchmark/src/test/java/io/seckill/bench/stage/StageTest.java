package io.seckill.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class StageTest {

  @Test
  void everyStageIsMeasuredOnceWhateverTheOrder() {
    assertThat(names(Stage.asMeasured())).containsExactlyInAnyOrderElementsOf(names(Stage.all()));
  }

  private static List<String> names(List<Stage> stages) {
    return stages.stream().map(Stage::name).toList();
  }
}
