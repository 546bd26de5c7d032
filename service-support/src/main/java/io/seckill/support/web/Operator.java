package io.seckill.support.web;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The person who requests an administrative change; the gateway takes the name from the verified
 * token.
 *
 * @param name 1..64 printable ASCII characters without spaces, so that it is safe in a log line
 */
public record Operator(String name) {

  /** Request header of the internal port with the name. */
  public static final String HEADER = "X-Operator";

  private static final Pattern NAME = Pattern.compile("[\\x21-\\x7e]{1,64}");

  /** Throws ProblemException 400 when the header is absent or invalid. */
  public static Operator of(@Nullable String header) {
    if (header == null || !NAME.matcher(header).matches()) {
      throw ProblemException.invalid(
          HEADER, HEADER + " must be 1..64 printable characters without spaces.");
    }
    return new Operator(header);
  }

  @Override
  public String toString() {
    return name;
  }
}
