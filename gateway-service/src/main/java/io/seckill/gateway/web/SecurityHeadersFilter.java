package io.seckill.gateway.web;

import java.util.List;
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
              headers.putIfAbsent("X-Content-Type-Options", List.of("nosniff"));
              headers.putIfAbsent("X-Frame-Options", List.of("DENY"));
              headers.putIfAbsent("Referrer-Policy", List.of("no-referrer"));
              headers.putIfAbsent(
                  "Content-Security-Policy", List.of("default-src 'none'; frame-ancestors 'none'"));
              headers.putIfAbsent(HttpHeaders.CACHE_CONTROL, List.of("no-store"));
              return Mono.empty();
            });
    return chain.filter(exchange);
  }
}
