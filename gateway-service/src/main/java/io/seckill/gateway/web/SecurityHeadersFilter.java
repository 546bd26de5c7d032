package io.seckill.gateway.web;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Sets headers that forbid content sniffing, framing, caching, referrers and active content. A
 * handler that serves pages may set a header of its own before the response is committed.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 1)
final class SecurityHeadersFilter implements WebFilter {

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    HttpHeaders headers = exchange.getResponse().getHeaders();
    exchange
        .getResponse()
        .beforeCommit(
            () -> {
              setIfAbsent(headers, "X-Content-Type-Options", "nosniff");
              setIfAbsent(headers, "X-Frame-Options", "DENY");
              setIfAbsent(headers, "Referrer-Policy", "no-referrer");
              setIfAbsent(
                  headers, "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
              setIfAbsent(headers, HttpHeaders.CACHE_CONTROL, "no-store");
              return Mono.empty();
            });
    return chain.filter(exchange);
  }

  private static void setIfAbsent(HttpHeaders headers, String name, String value) {
    if (!headers.containsHeader(name)) {
      headers.set(name, value);
    }
  }
}
