package io.seckill.gateway.web;

import io.seckill.gateway.security.Identity;
import org.springframework.web.server.ServerWebExchange;

/** Gives handlers the identity that the authentication filter has established. */
public final class Caller {

  private static final String ATTRIBUTE = Caller.class.getName();
  private static final int MAX_OPERATOR_CHARS = 64;

  private Caller() {}

  static void remember(ServerWebExchange exchange, Identity identity) {
    exchange.getAttributes().put(ATTRIBUTE, identity);
  }

  /** The caller's identity; only on paths that need a token. */
  public static Identity of(ServerWebExchange exchange) {
    return exchange.getRequiredAttribute(ATTRIBUTE);
  }

  /**
   * The operator's name for audit lines and headers: at most 64 printable ASCII characters, others
   * replaced, so that a token's subject can neither break a header nor forge a log line.
   */
  public static String operatorOf(ServerWebExchange exchange) {
    String subject = of(exchange).subject();
    return subject
        .substring(0, Math.min(subject.length(), MAX_OPERATOR_CHARS))
        .replaceAll("[^!-~]", "?");
  }
}
