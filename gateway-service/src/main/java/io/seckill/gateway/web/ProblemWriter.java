package io.seckill.gateway.web;

import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemException;
import java.nio.charset.StandardCharsets;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Writes problems as {@code application/problem+json} with the correlation id of the exchange. */
@Component
record ProblemWriter(RefusedRequests refused) {

  /** Ends the exchange with the problem; a response that has already begun is aborted instead. */
  Mono<Void> write(ServerWebExchange exchange, Problem problem) {
    ServerHttpResponse response = exchange.getResponse();
    if (!response.setStatusCode(HttpStatusCode.valueOf(problem.status()))) {
      return Mono.error(new ProblemException(problem));
    }
    refused.count(problem.code());
    String json = problem.json(exchange.getAttribute(CorrelationFilter.ATTRIBUTE));
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    HttpHeaders headers = response.getHeaders();
    headers.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
    headers.setContentLength(body.length);
    problem.headers().forEach(headers::set);
    DataBuffer buffer = response.bufferFactory().wrap(body);
    return response.writeWith(Mono.just(buffer));
  }
}
