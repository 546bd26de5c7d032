package io.seckill.consumer.web;

import io.seckill.support.web.InternalToken;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Rejects every request without the internal token, except for the paths listed here. Paths are
 * compared as sent, before any decoding, so that no spelling of another path can match one of them.
 * Without the token a connection gets one answer: a sender of many requests who reads no answer
 * would keep the thread that writes.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
class InternalTokenFilter extends OncePerRequestFilter {

  /** Health and metrics, without a body. */
  private static final Pattern OPEN =
      Pattern.compile("/actuator/health(/[a-z]{1,20})?|/actuator/prometheus");

  /** The payment provider's callback carries its own signature. */
  private static final String CALLBACK = "/internal/v1/payments/callback";

  private static final String SCHEME = "Bearer ";

  private final byte[] token;

  InternalTokenFilter(InternalToken internal) {
    this.token = internal.token().getBytes(StandardCharsets.UTF_8);
  }

  private static boolean isOpen(HttpServletRequest request) {
    String path = request.getRequestURI();
    return path.equals(CALLBACK) || (OPEN.matcher(path).matches() && !hasBody(request));
  }

  private static boolean hasBody(HttpServletRequest request) {
    return request.getContentLengthLong() > 0
        || request.getHeader(HttpHeaders.TRANSFER_ENCODING) != null;
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    if (isToken(request.getHeader(HttpHeaders.AUTHORIZATION))) {
      chain.doFilter(request, response);
    } else if (isOpen(request)) {
      response.setHeader(HttpHeaders.CONNECTION, "close");
      chain.doFilter(request, response);
    } else {
      RefusedRequest.end(
          request.startAsync(),
          Problem.of(ProblemCode.UNAUTHORIZED, "The internal token is missing or wrong."));
    }
  }

  /** Compares the token in constant time, wherever the first difference is. */
  private boolean isToken(@Nullable String authorization) {
    return authorization != null
        && authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
        && MessageDigest.isEqual(
            authorization.substring(SCHEME.length()).getBytes(StandardCharsets.UTF_8), token);
  }
}
