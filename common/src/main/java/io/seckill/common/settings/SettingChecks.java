package io.seckill.common.settings;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Currency;

/** Refuses bad settings in the constructors of the records they are bound to. */
public final class SettingChecks {

  private SettingChecks() {}

  /**
   * @param ok whether the setting is within its bounds
   * @param otherwise what it must be, beginning with its full name
   * @throws IllegalArgumentException with that text when it is not; the service does not start
   */
  public static void check(boolean ok, String otherwise) {
    if (!ok) {
      throw new IllegalArgumentException(otherwise);
    }
  }

  /**
   * Parses a URL that may hold a password.
   *
   * @param setting its full name
   * @throws IllegalArgumentException with that name and what is wrong, without the text and without
   *     a cause: that of {@link URI} repeats the text
   */
  public static URI uri(String setting, String text) {
    try {
      return new URI(text);
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(
          setting + ": " + e.getReason() + " at index " + e.getIndex());
    }
  }

  /** Whether the time is within these bounds, both included. */
  public static boolean isWithin(Duration time, Duration least, Duration most) {
    return time.compareTo(least) >= 0 && time.compareTo(most) <= 0;
  }

  /** Whether it is the ISO 4217 code of a currency of hundredths: all amounts are in cents. */
  public static boolean hasCents(String currency) {
    try {
      return Currency.getInstance(currency).getDefaultFractionDigits() == 2;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /** Whether the URL has no port or one that exists. */
  public static boolean hasPossiblePort(URI url) {
    return url.getPort() == -1 || isPort(url.getPort());
  }

  public static boolean isPort(int port) {
    return port >= 1 && port <= 65_535;
  }

  public static boolean isHttpUrl(String text) {
    try {
      URI uri = URI.create(text);
      return uri.getHost() != null
          && hasPossiblePort(uri)
          && ("https".equals(uri.getScheme()) || "http".equals(uri.getScheme()));
    } catch (IllegalArgumentException e) {
      return false;
    }
  }
}
