package io.seckill.gateway.web;

import io.seckill.gateway.security.Identity;
import io.seckill.gateway.security.RateLimits;
import io.seckill.gateway.security.TokenVerifier;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import org.springframework.web.util.pattern.PathPattern;
import reactor.core.publisher.Mono;

/**
 * Authenticates, authorizes and rate-limits requests: on the shopper port every path except the
 * open ones needs a shopper's token, on the admin port every path except pages, probes and metrics
 * needs a token with the operators' scope. Shoppers are rate-limited, operators are not. A path of
 * the other port is answered 404, before all that.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 2)
record AuthenticationFilter(TokenVerifier tokens, RateLimits limits, ProblemWriter problems)
    implements WebFilter {

  private static final List<PathPattern> OPEN_TO_SHOPPERS =
      Port.patterns(
          "/", "/assets/**", "/api/v1/skus", "/api/v1/skus/{sku}", "/api/v1/openapi.yaml");
  private static final List<PathPattern> OPEN_TO_OPERATORS =
      Port.patterns("/ops", "/ops/assets/**", "/actuator/**", "/api/v1/health");

  /** Paths to which a POST needs no token, because demo mode issues tokens there. */
  private static final List<PathPattern> OPEN_POSTS =
      Port.patterns("/api/v1/demo/token", "/admin/v1/demo/token");

  private static final Problem NO_OPERATOR =
      Problem.of(ProblemCode.FORBIDDEN, "The token lacks the operators' scope.");

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    return Mono.deferContextual(context -> filter(Port.of(context), exchange, chain));
  }

  private Mono<Void> filter(Port port, ServerWebExchange exchange, WebFilterChain chain) {
    ServerHttpRequest request = exchange.getRequest();
    if (!port.serves(request.getPath().pathWithinApplication())) {
      return problems.write(exchange, Problem.of(ProblemCode.NOT_FOUND));
    }
    if (port == Port.SHOPPER && !admitsAddress(request)) {
      return problems.write(exchange, Problem.of(ProblemCode.TOO_MANY_REQUESTS));
    }
    if (isOpen(port, request)) {
      return chain.filter(exchange);
    }
    Identity identity = tokens.identify(request.getHeaders().getFirst(HttpHeaders.AUTHORIZATION));
    if (identity == null) {
      return problems.write(exchange, Problem.of(tokens.refusal()));
    }
    Problem refusal = refusal(port, identity);
    if (refusal != null) {
      return problems.write(exchange, refusal);
    }
    Caller.remember(exchange, identity);
    return chain.filter(exchange);
  }

  private boolean admitsAddress(ServerHttpRequest request) {
    return limits.admitsAddress(
        request.getRemoteAddress(), request.getHeaders().getOrEmpty(RateLimits.FORWARDED_FOR));
  }

  private @Nullable Problem refusal(Port port, Identity identity) {
    if (port == Port.ADMIN) {
      return identity.isOperator() ? null : NO_OPERATOR;
    }
    if (!identity.isShopper()) {
      return Problem.of(ProblemCode.FORBIDDEN);
    }
    return limits.admitsUser(identity.userId()) ? null : Problem.of(ProblemCode.TOO_MANY_REQUESTS);
  }

  private static boolean isOpen(Port port, ServerHttpRequest request) {
    PathContainer path = request.getPath().pathWithinApplication();
    return open(port, request.getMethod()).stream().anyMatch(pattern -> pattern.matches(path));
  }

  private static List<PathPattern> open(Port port, HttpMethod method) {
    if (HttpMethod.POST.equals(method)) {
      return OPEN_POSTS;
    }
    if (!HttpMethod.GET.equals(method) && !HttpMethod.HEAD.equals(method)) {
      return List.of();
    }
    return port == Port.ADMIN ? OPEN_TO_OPERATORS : OPEN_TO_SHOPPERS;
  }
}
