package io.seckill.gateway.web;

import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/**
 * Assigns every exchange a correlation id, which the response, its problem and the log lines carry.
 * An id sent by the caller is kept when it is safe in a log line.
 */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE)
public final class CorrelationFilter implements WebFilter {

  static final String ATTRIBUTE = CorrelationFilter.class.getName();

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    String id =
        CorrelationId.orNew(exchange.getRequest().getHeaders().getFirst(CorrelationId.HEADER));
    exchange.getAttributes().put(ATTRIBUTE, id);
    exchange.getResponse().getHeaders().set(CorrelationId.HEADER, id);
    return chain.filter(exchange);
  }

  public static String idOf(ServerWebExchange exchange) {
    return exchange.getRequiredAttribute(ATTRIBUTE);
  }
}
