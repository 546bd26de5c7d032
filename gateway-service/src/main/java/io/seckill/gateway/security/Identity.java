package io.seckill.gateway.security;

import java.util.Set;

/**
 * The caller named by a verified token. Never taken from a request's body.
 *
 * @param userId the subject as a number, 1..2^63-1; 0 when the subject is not a shopper's
 * @param subject the token's subject, not empty
 * @param scopes as granted; may be empty
 */
public record Identity(long userId, String subject, Set<String> scopes) {

  /** Scope that operators' calls require. */
  public static final String ADMIN_SCOPE = "seckill.admin";

  private static final int MAX_DIGITS = 19;

  /** The identity of a subject; {@code userId} is derived from it. */
  static Identity of(String subject, Set<String> scopes) {
    return new Identity(shopperId(subject), subject, scopes);
  }

  /** Whether this is a user who may buy: the subject is a decimal 1..2^63-1. */
  public boolean isShopper() {
    return userId > 0;
  }

  /** Whether operators' calls are allowed. */
  public boolean isOperator() {
    return scopes.contains(ADMIN_SCOPE);
  }

  /** Returns 0 unless the text is a decimal 1..2^63-1 without sign or leading zero. */
  private static long shopperId(String subject) {
    if (subject.isEmpty() || subject.length() > MAX_DIGITS || subject.charAt(0) == '0') {
      return 0;
    }
    long value = 0;
    for (int i = 0; i < subject.length(); i++) {
      char c = subject.charAt(i);
      if (c < '0' || c > '9') {
        return 0;
      }
      value = value * 10 + (c - '0'); // 19 digits overflow to a negative value, refused below
    }
    return Math.max(value, 0);
  }
}
