package io.seckill.common.sale;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A pause or close that Redis obeys and MySQL does not have yet.
 *
 * @param state PAUSED or CLOSED
 * @param askedAt Unix ms by the clock of the gateway that was asked
 * @param operator who asked, 1..64 printable ASCII characters
 */
public record PendingStop(long skuId, String state, long askedAt, String operator) {

  private static final Pattern FORMAT =
      Pattern.compile("(PAUSED|CLOSED)\\|(\\d{1,18})\\|([\\x21-\\x7e]{1,64})");

  /** As the partition's hash of stops holds it, under the SKU. */
  String format() {
    return state + '|' + askedAt + '|' + operator;
  }

  /** Empty when it is not of our making. */
  static Optional<PendingStop> parse(String skuId, String text) {
    Matcher part = FORMAT.matcher(text);
    return part.matches() && skuId.matches("\\d{1,18}")
        ? Optional.of(
            new PendingStop(
                Long.parseLong(skuId), part.group(1), Long.parseLong(part.group(2)), part.group(3)))
        : Optional.empty();
  }
}
