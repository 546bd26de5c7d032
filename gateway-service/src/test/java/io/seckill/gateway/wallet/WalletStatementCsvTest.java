package io.seckill.gateway.wallet;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class WalletStatementCsvTest {

  private static final Duration SOON = Duration.ofSeconds(10);
  private static final String HEADER =
      "seq,time,kind,amount_cents,balance_cents,request_id,charge_id,reason\r\n";

  private static Flux<String> csv(LongFunction<Mono<JsonNode>> pages) {
    return new WalletStatementCsv(LocalDate.parse("2026-11-01"), LocalDate.parse("2026-11-30"))
        .of(pages);
  }

  private static String text(Map<Long, String> pages) {
    return String.join(
        "",
        csv(after -> Mono.just(JsonMapper.shared().readTree(pages.get(after))))
            .collectList()
            .blockOptional(SOON)
            .orElseThrow());
  }

  private static String entry(long seq, long amount, long balance, String reason) {
    return """
        {"seq":%d,"kind":"ADJUST","amountCents":%d,"balanceAfterCents":%d,"requestId":"key-%d",\
        "chargeId":null,"reason":"%s","createdAt":"2026-11-03T10:00:00Z"}\
        """
        .formatted(seq, amount, balance, seq, reason);
  }

  private static String page(long opening, String next, String... entries) {
    return "{\"openingCents\":%d,\"entries\":[%s],\"next\":%s}"
        .formatted(opening, String.join(",", entries), next);
  }

  @Test
  void runsFromTheOpeningToTheClosingBalanceOverAllPages() {
    String first = page(500, "8", entry(7, 100, 600, "a"), entry(8, -50, 550, "b"));
    String second = page(550, "null", entry(9, 1, 551, "c"));

    assertThat(text(Map.of(0L, first, 8L, second)))
        .isEqualTo(
            HEADER
                + ",2026-11-01,OPENING,,500,,,\r\n"
                + "7,2026-11-03T10:00:00Z,ADJUST,100,600,\"key-7\",,\"a\"\r\n"
                + "8,2026-11-03T10:00:00Z,ADJUST,-50,550,\"key-8\",,\"b\"\r\n"
                + "9,2026-11-03T10:00:00Z,ADJUST,1,551,\"key-9\",,\"c\"\r\n"
                + ",2026-11-30,CLOSING,,551,,,\r\n");
  }

  @Test
  void closesWithTheOpeningBalanceWhenNothingHappened() {
    assertThat(text(Map.of(0L, page(500, "null"))))
        .isEqualTo(HEADER + ",2026-11-01,OPENING,,500,,,\r\n,2026-11-30,CLOSING,,500,,,\r\n");
  }

  /** A reader takes a statement without its last line for an incomplete one. */
  @Test
  void doesNotCloseWhenALaterPageFails() {
    String first = page(0, "7", entry(7, 100, 100, "a"));

    List<Signal<String>> signals =
        csv(after ->
                after == 0
                    ? Mono.just(JsonMapper.shared().readTree(first))
                    : Mono.error(new IllegalStateException("away")))
            .materialize()
            .collectList()
            .blockOptional(SOON)
            .orElseThrow();

    assertThat(signals).hasSize(2);
    assertThat(signals.get(0).get()).contains("OPENING").doesNotContain("CLOSING");
    assertThat(signals.get(1).isOnError()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "=1+1, \"'=1+1\"",
        "+1, \"'+1\"",
        "-1, \"'-1\"",
        "@A1, \"'@A1\"",
        "\uFF1D1+1, \"'\uFF1D1+1\"",
        "\uFF0B1, \"'\uFF0B1\"",
        "\uFF0D1, \"'\uFF0D1\"",
        "\uFF20A1, \"'\uFF20A1\"",
        "a;=1+1;b, \"a;'=1+1;b\"",
        "a; -1, \"a;' -1\"",
        "`a;\\\"=1\\\"`, `\"a;'\"\"=1\"\"\"`",
        "two words, \"two words\"",
        "a=b, \"a=b\"",
        "a; b-1, \"a; b-1\"",
        "\\t=1, \"'\t=1\"",
        "`two \\\"quotes\\\"`, `\"two \"\"quotes\"\"\"`",
        "`=HYPERLINK(\\\"x\\\")`, `\"'=HYPERLINK(\"\"x\"\")\"`",
        "`a,b`, `\"a,b\"`"
      })
  void quotesTextsAndTakesThemForNoFormula(String reason, String cell) {
    assertThat(text(Map.of(0L, page(0, "null", entry(1, 5, 5, reason)))))
        .contains(",\"key-1\",," + cell + "\r\n");
  }
}
