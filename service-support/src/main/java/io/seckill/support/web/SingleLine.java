package io.seckill.support.web;

import java.lang.Character.UnicodeScript;
import java.text.Normalizer;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks and normalizes free text of one line that people read: names and reasons. Two texts that
 * look the same are the same, and no text changes how the line around it is shown.
 */
public final class SingleLine {

  /** U+200C and U+200D form letters in these scripts; elsewhere they are only invisible. */
  private static final Set<UnicodeScript> JOINED =
      EnumSet.of(
          UnicodeScript.ARABIC,
          UnicodeScript.BENGALI,
          UnicodeScript.DEVANAGARI,
          UnicodeScript.GUJARATI,
          UnicodeScript.GURMUKHI,
          UnicodeScript.KANNADA,
          UnicodeScript.KHMER,
          UnicodeScript.MALAYALAM,
          UnicodeScript.MYANMAR,
          UnicodeScript.ORIYA,
          UnicodeScript.SINHALA,
          UnicodeScript.SYRIAC,
          UnicodeScript.TAMIL,
          UnicodeScript.TELUGU);

  private static final int ZWNJ = 0x200C;
  private static final int ZWJ = 0x200D;
  private static final int KEYCAP = 0x20E3;

  /** Marks on one character: more than a script needs, and too few to reach the lines around it. */
  private static final int MOST_MARKS = 6;

  private SingleLine() {}

  /**
   * Returns the text in Unicode's normalization form C, without spaces around it.
   *
   * @param max in UTF-16 units, of the result
   * @return 1..max characters, one of them visible. None is unassigned, for private use, a control
   *     or formatting character, a line break of any kind, half of a surrogate pair, or invisible;
   *     joiners and variation selectors are allowed where they form letters or emoji
   * @throws ProblemException 400 naming the field
   */
  public static String checked(String field, @Nullable String text, int max) {
    String line = text == null ? "" : stripped(Normalizer.normalize(text, Normalizer.Form.NFC));
    if (line.isEmpty() || line.length() > max || !isReadable(line.codePoints().toArray())) {
      throw ProblemException.invalid(
          field,
          field + " must be 1.." + max + " characters, without control or invisible characters.");
    }
    return line;
  }

  /** {@link String#strip} leaves no-break spaces. */
  private static String stripped(String text) {
    int from = 0;
    int to = text.length();
    while (from < to && isSpace(text.charAt(from))) {
      from++;
    }
    while (to > from && isSpace(text.charAt(to - 1))) {
      to--;
    }
    return text.substring(from, to);
  }

  private static boolean isSpace(int c) {
    return Character.getType(c) == Character.SPACE_SEPARATOR;
  }

  private static boolean isReadable(int[] line) {
    int before = ' ';
    int marks = 0;
    for (int i = 0; i < line.length; i++) {
      int after = i + 1 < line.length ? line[i + 1] : ' ';
      marks = isMark(line[i]) ? marks + 1 : 0;
      if (marks > MOST_MARKS || !isReadable(before, line[i], after)) {
        return false;
      }
      before = line[i];
    }
    return true;
  }

  private static boolean isReadable(int before, int c, int after) {
    if (c == ZWJ || c == ZWNJ) {
      return joins(before) && isVisible(after);
    }
    if (c == 0xFE0E || c == 0xFE0F) { // show the character before as text, as emoji
      return isSymbol(before) || after == KEYCAP;
    }
    if (c >= 0xE0100 && c <= 0xE01EF) { // another shape of the character before
      return Character.isIdeographic(before);
    }
    return isMark(c)
        ? (isVisible(before) || before == 0xFE0F) && isVisible(c)
        : isSpace(c) || isVisible(c);
  }

  private static boolean joins(int c) {
    return isSymbol(c) || c == 0xFE0F || JOINED.contains(UnicodeScript.of(c));
  }

  /** Emoji are symbols, and so are their skin tones. */
  private static boolean isSymbol(int c) {
    int type = Character.getType(c);
    return type == Character.OTHER_SYMBOL
        || type == Character.MODIFIER_SYMBOL
        || type == Character.MATH_SYMBOL;
  }

  private static boolean isMark(int c) {
    int type = Character.getType(c);
    return type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK;
  }

  private static boolean isVisible(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SPACE_SEPARATOR ->
          false;
      case Character.UNASSIGNED -> c >= 0x1F000 && c <= 0x1FAFF; // emoji newer than this JDK
      default -> !isBlank(c);
    };
  }

  /** Letters, marks and symbols without a shape of their own. */
  private static boolean isBlank(int c) {
    return switch (c) {
      case 0x034F, // combining grapheme joiner
          0x115F, // Hangul fillers
          0x1160,
          0x3164,
          0xFFA0,
          0x17B4, // Khmer inherent vowels
          0x17B5,
          0x2800, // empty Braille pattern
          0x1D159 -> // null note head
          true;
      default -> (c >= 0x180B && c <= 0x180F) || (c >= 0xFE00 && c <= 0xFE0F);
    };
  }
}
