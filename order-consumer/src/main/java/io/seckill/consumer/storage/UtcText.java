package io.seckill.consumer.storage;

import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/**
 * Times as text for DATETIME(3) columns. Connector/J cuts the milliseconds off its own time types
 * when the server reports a version older than 5.6.4, and MariaDB reports 5.5.5.
 */
public final class UtcText {

  private static final DateTimeFormatter MILLIS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSS", Locale.ROOT);

  private UtcText() {}

  /**
   * @param epochMs Unix ms, not negative
   */
  public static String of(long epochMs) {
    return LocalDateTime.ofEpochSecond(
            epochMs / 1_000, (int) (epochMs % 1_000) * 1_000_000, ZoneOffset.UTC)
        .format(MILLIS);
  }
}
