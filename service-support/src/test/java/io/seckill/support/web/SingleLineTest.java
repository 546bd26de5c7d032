package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class SingleLineTest {

  @ParameterizedTest
  @NullSource
  @ValueSource(
      strings = {
        "",
        " ",
        "\u00A0\u2007\u202F\u3000", // spaces without a line break
        "\u200B",
        "\u2800",
        "\u3164",
        "Pho\u200Bne", // zero width space
        "Pho\u200Dne", // joiners between Latin letters
        "Pho\u200Cne",
        "\u200DPhone",
        "Phone\u200D",
        "Phone \u202Exes", // bidirectional overrides, embeddings, isolates and marks
        "\u202APhone",
        "Phone\u2066",
        "Phone\u200E",
        "Phone\u061C",
        "Pho\u00ADne", // soft hyphen
        "Pho\u2060ne", // word joiner
        "\uFEFFPhone", // byte order mark
        "Pho\u180Ene",
        "Pho\u034Fne",
        "Pho\uFE0Fne", // variation selectors of nothing that varies
        "Pho\uFE01ne",
        "Pho\uDB40\uDD00ne",
        "Pho\uDB40\uDC41ne", // tag character
        "Phone\n",
        "Pho\rne",
        "Pho\tne",
        "Pho\u0000ne",
        "Pho\u0085ne",
        "Pho\u2028ne",
        "Pho\u2029ne",
        "Pho\uD83Dne", // half of a pair
        "Pho\uE000ne", // private use
        "Pho\uFFFFne", // no character
        "Pho\uD83F\uDFFEne",
        "Pho\u0378ne", // not assigned
        "\u0301Phone", // a mark on nothing
        "Pho \u0301ne",
        "Phx\u0301\u0301\u0301\u0301\u0301\u0301\u0301ne", // a tower of marks
      })
  void refusesWhatPeopleCannotRead(String text) {
    assertThatThrownBy(() -> SingleLine.checked("name", text, 200))
        .isInstanceOfSatisfying(
            ProblemException.class,
            refused -> {
              assertThat(refused.problem().code()).isEqualTo(ProblemCode.INVALID_REQUEST);
              assertThat(refused.problem().field()).isEqualTo("name");
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Phone 15 Pro, 128 GB (black) \u2013 \u20AC499.00",
        "\u624B\u673A\u3000\u9ED1\u8272", // Chinese, with an ideographic space
        "T\u00E9l\u00E9phone",
        "\u0627\u0644\u0647\u0627\u062A\u0641", // Arabic
        "\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645", // Persian, with its non-joiner
        "\u0915\u094D\u200D\u0937", // Devanagari
        "\u0E42\u0E17\u0E23\u0E28\u0E31\u0E1E\u0E17\u0E4C", // Thai
        "\uD83D\uDC68\u200D\uD83D\uDC69\u200D\uD83D\uDC67 family", // emoji with joiners
        "\uD83D\uDC69\uD83C\uDFFD\u200D\uD83D\uDCBB", // with a skin tone
        "\u2764\uFE0F\u200D\uD83D\uDD25", // with a variation selector
        "1\uFE0F\u20E3",
        "\u845B\uDB40\uDD00", // a shape of an ideograph
        "q\u0323\u0301", // marks without a composed form
      })
  void keepsEveryScript(String text) {
    assertThat(SingleLine.checked("name", text, 200)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "Te\u0301le\u0301phone, T\u00E9l\u00E9phone",
    "'  Phone ', Phone",
    "'\u00A0Phone\u3000\u202F', Phone",
    "\u1112\u1161\u11AB, \uD55C",
    "\u212B, \u00C5"
  })
  void makesTextsThatLookTheSameTheSame(String text, String line) {
    assertThat(SingleLine.checked("name", text, 200)).isEqualTo(line);
  }

  @Test
  void countsTheCharactersOfTheResult() {
    assertThat(SingleLine.checked("name", " " + "e\u0301".repeat(200) + " ", 200)).hasSize(200);
    assertThatThrownBy(() -> SingleLine.checked("name", "x".repeat(201), 200))
        .isInstanceOf(ProblemException.class);
  }
}
