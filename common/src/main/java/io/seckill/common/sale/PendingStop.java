package io.seckill.common.sale;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A pause or close that is in force in Redis and not stored in MySQL yet.
 *
 * @param state PAUSED or CLOSED
 * @param askedAt time of the request, Unix ms by the clock of the gateway that received it
 * @param operator the operator who requested it, 1..64 printable ASCII characters
 */
public record PendingStop(long skuId, String state, long askedAt, String operator) {

  private static final Pattern FORMAT =
      Pattern.compile("(PAUSED|CLOSED)\\|(\\d{1,15})\\|([\\x21-\\x7e]{1,64})");

  /** The value in the partition's hash of stops, whose field is the SKU. */
  String format() {
    return state + '|' + askedAt + '|' + operator;
  }

  /**
   * Returns empty when the text is not exactly what {@link #format} returns: it is compared with
   * that in Redis.
   */
  static Optional<PendingStop> parse(String skuId, String text) {
    Matcher part = FORMAT.matcher(text);
    return part.matches() && skuId.matches("\\d{1,18}")
        ? Optional.of(
                new PendingStop(
                    Long.parseLong(skuId),
                    part.group(1),
                    Long.parseLong(part.group(2)),
                    part.group(3)))
            .filter(stop -> stop.format().equals(text) && Long.toString(stop.skuId()).equals(skuId))
        : Optional.empty();
  }
}
