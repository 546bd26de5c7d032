package io.seckill.gateway.web;

import io.seckill.common.order.WholeNumber;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Brings request targets into the one form that routes are matched with (RFC 9112, section 3.2; RFC
 * 3986, section 6.2.2): path and query, with letters, digits and {@code -._~} not encoded. What
 * browsers leave unencoded, such as {@code |} or a lone {@code %}, is encoded; parameters of path
 * segments are removed, as Spring's patterns ignore them.
 */
final class RequestTarget {

  private static final int MAX_PORT = 65_535;
  private static final String HEX = "0123456789ABCDEF";

  /** Characters of a path or query that stay as they are. */
  private static final boolean[] PLAIN = new boolean[128];

  static {
    String plain =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,=:@/?";
    plain.chars().forEach(c -> PLAIN[c] = true);
  }

  private RequestTarget() {}

  /**
   * Returns path and query of a target in origin-form, absolute-form or, for {@code OPTIONS *},
   * those of the root. Returns null when it is no target that an origin server answers.
   */
  static @Nullable String normalized(String method, String target) {
    if (target.startsWith("/")) {
      return isPlain(target) ? target : encoded(target);
    }
    if (target.equals("*")) {
      return method.equals("OPTIONS") ? "/" : null;
    }
    int authority = authorityOf(target);
    int end = authority;
    while (end < target.length() && "/?#".indexOf(target.charAt(end)) < 0) {
      end++;
    }
    if (authority == 0 || !isHost(target.substring(authority, end)) || end == authority) {
      return null;
    }
    String rest = target.substring(end);
    return encoded(rest.startsWith("/") ? rest : "/" + rest);
  }

  /** Returns 0 when the target is not an address of HTTP. */
  private static int authorityOf(String target) {
    String start = target.substring(0, Math.min(target.length(), 8)).toLowerCase(Locale.ROOT);
    return start.startsWith("http://") ? 7 : start.equals("https://") ? 8 : 0;
  }

  private static boolean isPlain(String target) {
    for (int i = 0; i < target.length(); i++) {
      char c = target.charAt(i);
      if (c >= 128 || !PLAIN[c]) {
        return false;
      }
    }
    return true;
  }

  private static @Nullable String encoded(String target) {
    StringBuilder form = new StringBuilder(target.length() + 16);
    boolean query = false;
    for (int i = 0; i < target.length(); i++) {
      char c = target.charAt(i);
      query |= c == '?';
      int octet = c == '%' ? octet(target, i) : -1;
      if (c <= ' ' || c == 0x7F || c > 0xFF || c == '#') {
        return null;
      } else if (c == ';' && !query) {
        i = endOfSegment(target, i) - 1;
      } else if (octet >= 0) {
        append(form, octet);
        i += 2;
      } else if (c == ';' || (c < 128 && PLAIN[c])) {
        form.append(c);
      } else {
        percent(form, c);
      }
    }
    return form.toString();
  }

  private static int endOfSegment(String target, int from) {
    int end = from;
    while (end < target.length() && target.charAt(end) != '/' && target.charAt(end) != '?') {
      end++;
    }
    return end;
  }

  /** The octet that is encoded there; -1 when none is. */
  private static int octet(String target, int percent) {
    if (percent + 2 >= target.length()) {
      return -1;
    }
    int high = Character.digit(target.charAt(percent + 1), 16);
    int low = Character.digit(target.charAt(percent + 2), 16);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
  }

  private static void append(StringBuilder form, int octet) {
    boolean letter = (octet >= 'a' && octet <= 'z') || (octet >= 'A' && octet <= 'Z');
    if (letter || (octet >= '0' && octet <= '9') || "-._~".indexOf(octet) >= 0) {
      form.append((char) octet);
    } else {
      percent(form, octet);
    }
  }

  private static void percent(StringBuilder form, int octet) {
    form.append('%').append(HEX.charAt(octet >> 4)).append(HEX.charAt(octet & 15));
  }

  /** Whether a text is the host, and port if any, of RFC 3986; it may be empty. */
  static boolean isHost(String text) {
    int bracket = text.startsWith("[") ? text.indexOf(']') : -1;
    int colon = text.indexOf(':', Math.max(0, bracket));
    int end = colon < 0 ? text.length() : colon;
    if (text.startsWith("[") && bracket != end - 1) {
      return false;
    }
    for (int i = 0; i < end; i++) {
      char c = text.charAt(i);
      boolean named = c < 128 && PLAIN[c] && "/?@:".indexOf(c) < 0;
      if (!named && !(bracket >= 0 && (c == ':' || c == '[' || c == ']'))) {
        return false;
      }
    }
    return (end > 0 || text.isEmpty()) && (colon < 0 || isPort(text.substring(colon + 1)));
  }

  private static boolean isPort(String text) {
    long port = WholeNumber.positive(text);
    return text.isEmpty() || (port > 0 && port <= MAX_PORT);
  }
}
