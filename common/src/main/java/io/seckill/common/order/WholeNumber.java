package io.seckill.common.order;

/** Reads numbers in the form in which ids are written: decimal digits, no sign, no leading zero. */
public final class WholeNumber {

  private static final int MAX_DIGITS = 19;

  private WholeNumber() {}

  /**
   * Uses no regular expression, because it reads the SKU of every purchase.
   *
   * @return 1..2^63-1, or 0 for any other text
   */
  public static long positive(String text) {
    if (text.isEmpty() || text.length() > MAX_DIGITS || text.charAt(0) == '0') {
      return 0;
    }
    long value = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9') {
        return 0;
      }
      value = value * 10 + (c - '0');
    }
    return Math.max(0, value); // 19 digits overflow to a negative value
  }
}
