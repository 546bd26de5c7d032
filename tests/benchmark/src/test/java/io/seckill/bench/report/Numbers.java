package io.seckill.bench.report;

import java.util.Locale;

/** Formats figures for people. */
final class Numbers {

  private Numbers() {}

  /**
   * Appends the unit given by the end of the key and separates thousands: {@code 31 204 /s}, {@code
   * 2.41 ms}.
   */
  static String withUnit(String key, double value) {
    return plain(value) + unit(key);
  }

  /** Returns three significant digits, or a whole number above a hundred. */
  static String plain(double value) {
    double size = Math.abs(value);
    if (size >= 100 || value == Math.rint(value)) {
      return String.format(Locale.ROOT, "%,.0f", value).replace(',', ' ');
    }
    return String.format(Locale.ROOT, size >= 10 ? "%.1f" : "%.2f", value);
  }

  private static String unit(String key) {
    if (key.endsWith("_per_s")) {
      return " /s";
    } else if (key.endsWith("_ms")) {
      return " ms";
    } else if (key.endsWith("_mb")) {
      return " MB";
    } else if (key.endsWith("_percent")) {
      return " %";
    } else if (key.endsWith("seconds")) {
      return " s";
    }
    return key.contains("bytes") ? " B" : "";
  }
}
