package io.seckill.common.order;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OrderLinesTest {

  @Test
  void splitsWhatItHasJoined() {
    List<byte[]> orders =
        Stream.of("{\"a\":1}", "{}", "{\"b\":\"}\"}").map(OrderLinesTest::utf8).toList();

    assertThat(new String(OrderLines.join(orders), UTF_8))
        .isEqualTo("{\"a\":1}\n{}\n{\"b\":\"}\"}");
    assertThat(OrderLines.split(OrderLines.join(orders))).containsExactlyElementsOf(orders);
    byte[] one = utf8("{\"a\":1}");
    assertThat(OrderLines.split(one)).containsExactly(one);
  }

  @Test
  void takesNoMoreThanItJoins() {
    List<byte[]> most = Collections.nCopies(OrderLines.MOST_ORDERS, utf8("{}"));
    List<byte[]> more = Collections.nCopies(OrderLines.MOST_ORDERS + 1, utf8("{}"));

    assertThat(OrderLines.split(OrderLines.join(most))).hasSize(OrderLines.MOST_ORDERS);
    assertThat(OrderLines.split(OrderLines.join(more))).containsExactly(OrderLines.join(more));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "\n",
        "}\n",
        "\n{",
        "{}\n",
        "{\n  \"a\": {\n  }\n}",
        "[{},\n{}]",
        "no JSON\n{"
      })
  void leavesOtherTextWhole(String text) {
    assertThat(OrderLines.split(utf8(text))).containsExactly(utf8(text));
  }

  @Test
  void aLineHasNothingAroundItsObject() {
    assertThat(List.of("{}", "{\"a\":1}")).allMatch(text -> OrderLines.isLine(utf8(text)));
    assertThat(List.of("", " {}", "{} ", "{}\n", "\n{}", "\uFEFF{}", "}", "{"))
        .noneMatch(text -> OrderLines.isLine(utf8(text)));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }
}
