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
