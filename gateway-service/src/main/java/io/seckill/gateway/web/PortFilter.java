package io.seckill.gateway.web;

import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

/** Responds with 404 to a path of the other port, before authentication. */
@Component
@Order(Ordered.HIGHEST_PRECEDENCE + 2)
record PortFilter(ProblemWriter problems) implements WebFilter {

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
    return Mono.deferContextual(context -> filter(Port.of(context), exchange, chain));
  }

  private Mono<Void> filter(Port port, ServerWebExchange exchange, WebFilterChain chain) {
    port.remember(exchange);
    return port.serves(exchange.getRequest().getPath().pathWithinApplication())
        ? chain.filter(exchange)
        : problems.write(exchange, Problem.of(ProblemCode.NOT_FOUND));
  }
}
