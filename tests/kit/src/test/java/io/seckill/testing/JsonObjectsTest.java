package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonObjectsTest {

  @Test
  void readsTextsNumbersAndListsOfTextsAndLeavesOutTheRest() {
    String array =
        "[{\"name\":\"orders\",\"arguments\":{\"n\":1},\"messages\":7,\"owner\":null,\"live\":true,\"nodes\":[\"a\",[1],\"b\"]},{}]";

    assertThat(JsonObjects.parse(array))
        .containsExactly(
            Map.of("name", "orders", "messages", 7, "live", true, "nodes", List.of("a", "b")),
            Map.of());
  }

  @Test
  void refusesWhatIsNoArray() {
    assertThatThrownBy(() -> JsonObjects.parse("{\"error\":\"not found\"}"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
