package io.seckill.gateway.wallet;

import java.time.LocalDate;
import java.util.function.LongFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/**
 * The statement of a wallet as CSV (RFC 4180): the opening balance, each entry with the balance
 * after it, and the closing balance. A statement without its last line is incomplete.
 */
record WalletStatementCsv(LocalDate from, LocalDate to) {

  static final String TYPE = "text/csv";

  private static final String HEADER =
      "seq,time,kind,amount_cents,balance_cents,request_id,charge_id,reason\r\n";

  /**
   * In front of a formula, which begins with = + - @, also full-width, a tab or a carriage return.
   * Spreadsheets with a decimal comma split the line at semicolons, also within the quotes.
   */
  private static final Pattern FORMULA =
      Pattern.compile("(^|;)(?=[\\s\"]*[=+\\-@\\uFF1D\\uFF0B\\uFF0D\\uFF20\\t\\r])");

  String name() {
    return "wallet-" + from + "-" + to + ".csv";
  }

  private record Page(JsonNode json, boolean isFirst) {

    boolean isLast() {
      return json.path("next").isNull();
    }
  }

  /**
   * The lines, page by page, as fast as they are read.
   *
   * @param pages reads the page of entries after a sequence number
   */
  Flux<String> of(LongFunction<Mono<JsonNode>> pages) {
    return pages
        .apply(0)
        .map(json -> new Page(json, true))
        .expand(
            page ->
                page.isLast()
                    ? Mono.empty()
                    : pages
                        .apply(page.json.path("next").longValue())
                        .map(json -> new Page(json, false)))
        .map(this::lines);
  }

  private String lines(Page page) {
    StringBuilder lines = new StringBuilder();
    long balance = page.json.path("openingCents").longValue();
    if (page.isFirst) {
      lines.append(HEADER).append(balanceLine(from, "OPENING", balance));
    }
    for (JsonNode entry : page.json.path("entries")) {
      balance = entry.path("balanceAfterCents").longValue();
      lines.append(line(entry));
    }
    return page.isLast() ? lines + balanceLine(to, "CLOSING", balance) : lines.toString();
  }

  private static String balanceLine(LocalDate day, String kind, long balance) {
    return "," + day + "," + kind + ",," + balance + ",,,\r\n";
  }

  private static String line(JsonNode entry) {
    return Stream.of("seq", "createdAt", "kind", "amountCents", "balanceAfterCents")
            .map(name -> entry.path(name).asString(""))
            .collect(Collectors.joining(","))
        + Stream.of("requestId", "chargeId", "reason")
            .map(name -> "," + quoted(entry.path(name).asString("")))
            .collect(Collectors.joining())
        + "\r\n";
  }

  /** Text of callers: a spreadsheet must not take it for a formula. */
  private static String quoted(String text) {
    String guarded = FORMULA.matcher(text).replaceAll("$1'").replace("\"", "\"\"");
    return text.isEmpty() ? "" : '"' + guarded + '"';
  }
}
