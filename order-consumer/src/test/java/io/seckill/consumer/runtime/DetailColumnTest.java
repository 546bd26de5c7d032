package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DetailColumnTest {

  private static final int MAX_CHARS = 2_000;

  @Test
  void hasAllLinesThatFit() {
    assertThat(DetailColumn.text(List.of())).isEmpty();
    List<String> lines = Collections.nCopies(20, "x".repeat(99));
    assertThat(DetailColumn.text(lines)).hasSize(MAX_CHARS - 1).isEqualTo(String.join("\n", lines));
  }

  /** The last line has a place of its own. */
  @ParameterizedTest
  @CsvSource({"3, 487", "39, 48", "99, 19", "1950, 1", "1951, 0", "5000, 0"})
  void endsWithAWholeLineAndTheNumberOfOthers(int length, int whole) {
    List<String> lines = Collections.nCopies(1_000, "1".repeat(length));

    String text = DetailColumn.text(lines);

    List<String> expected = new ArrayList<>(lines.subList(0, whole));
    expected.add("and " + (1_000 - whole) + " more, in order-consumer's log");
    assertThat(text.lines()).containsExactlyElementsOf(expected);
    assertThat(text.length()).isLessThanOrEqualTo(MAX_CHARS);
  }
}
