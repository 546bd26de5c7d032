package io.seckill.gateway.web;

import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.stereotype.Component;
import org.springframework.web.ErrorResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/**
 * Converts every failure to a problem: a {@code ProblemException} is sent as it is, a request that
 * Spring refuses gets one of the gateway's codes, and everything else becomes 500 without details.
 */
@Component
@Order(-2) // before Boot's own handler, which would send texts derived from exceptions
record ProblemExceptionHandler(ProblemWriter problems) implements WebExceptionHandler {

  private static final Logger log = LoggerFactory.getLogger(ProblemExceptionHandler.class);

  @Override
  public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
    if (exchange.getResponse().isCommitted()) {
      return Mono.error(failure);
    }
    if (failure instanceof ErrorResponse error) {
      copyAllow(error, exchange);
    }
    return problems.write(exchange, problem(exchange, failure));
  }

  private static Problem problem(ServerWebExchange exchange, Throwable failure) {
    if (failure instanceof ProblemException known) {
      return known.problem();
    }
    if (failure instanceof ErrorResponse error && error.getStatusCode().value() < 500) {
      return Problem.of(ProblemCode.ofStatus(error.getStatusCode().value()));
    }
    log.error(
        "request failed, correlation id {}",
        exchange.getAttributes().get(CorrelationFilter.ATTRIBUTE),
        failure);
    return Problem.of(ProblemCode.INTERNAL_ERROR);
  }

  private static void copyAllow(ErrorResponse error, ServerWebExchange exchange) {
    String allow = error.getHeaders().getFirst(HttpHeaders.ALLOW);
    if (allow != null) {
      exchange.getResponse().getHeaders().set(HttpHeaders.ALLOW, allow);
    }
  }
}
