package io.seckill.gateway.web;

/** Checks input text; uses no regular expressions because the checks run for every purchase. */
public final class SafeText {

  private SafeText() {}

  /** Whether the text is {@code [A-Za-z0-9_-]{min,max}}. */
  public static boolean isWord(String text, int min, int max) {
    if (text.length() < min || text.length() > max) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!letter && !(c >= '0' && c <= '9') && c != '_' && c != '-') {
        return false;
      }
    }
    return true;
  }

  /**
   * The number a decimal text stands for: digits only, no sign, no leading zero.
   *
   * @param max largest value, at most 2^63-1
   * @return 1..max, or 0 for any other text
   */
  public static long positive(String text, long max) {
    if (text.isEmpty() || text.length() > 19 || text.charAt(0) == '0') {
      return 0;
    }
    long value = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9') {
        return 0;
      }
      value = value * 10 + (c - '0'); // 19 digits overflow to a negative value, refused below
    }
    return value > 0 && value <= max ? value : 0;
  }

  /** Whether the text is a W3C traceparent that may be passed on. */
  public static boolean isTraceparent(String text) {
    if (text.length() != 55) {
      return false;
    }
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      boolean dash = i == 2 || i == 35 || i == 52;
      boolean hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
      if (dash ? c != '-' : !hex) {
        return false;
      }
    }
    return !text.startsWith("ff");
  }
}
