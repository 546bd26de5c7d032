package io.seckill.gateway.security;

import io.seckill.common.order.WholeNumber;
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

  static Identity of(String subject, Set<String> scopes) {
    return new Identity(WholeNumber.positive(subject), subject, scopes);
  }

  /** Whether this is a user who may buy: the subject is a decimal 1..2^63-1. */
  public boolean isShopper() {
    return userId > 0;
  }

  public boolean isOperator() {
    return scopes.contains(ADMIN_SCOPE);
  }
}
