package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonObjectsTest {

  @Test
  void readsTextsAndNumbersAndLeavesOutTheRest() {
    String array =
        "[{\"name\":\"orders\",\"arguments\":{\"n\":1},\"messages\":7,\"owner\":null,\"nodes\":[1]},{}]";

    assertThat(JsonObjects.parse(array))
        .containsExactly(Map.of("name", "orders", "messages", 7), Map.of());
  }

  @Test
  void refusesWhatIsNoArray() {
    assertThatThrownBy(() -> JsonObjects.parse("{\"error\":\"not found\"}"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
