package io.seckill.support.web;

import org.jspecify.annotations.Nullable;

/** Checks free text that must fit on one line. */
public final class SingleLine {

  private SingleLine() {}

  /**
   * @param max in UTF-16 units
   * @return 1..max characters that are not all blank, none of them a control character, a line
   *     break of any kind or half of a surrogate pair
   * @throws ProblemException 400 naming the field
   */
  public static String checked(String field, @Nullable String text, int max) {
    if (text == null || text.isBlank() || text.length() > max || !isOneLine(text)) {
      throw ProblemException.invalid(
          field, field + " must be 1.." + max + " characters without control characters.");
    }
    return text;
  }

  private static boolean isOneLine(String text) {
    return text.codePoints()
        .allMatch(
            c ->
                !Character.isISOControl(c)
                    && Character.getType(c) != Character.SURROGATE
                    && Character.getType(c) != Character.LINE_SEPARATOR
                    && Character.getType(c) != Character.PARAGRAPH_SEPARATOR);
  }
}
