package io.seckill.gateway.web;

import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.reactor.netty.NettyRouteProvider;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.http.server.HttpServerRoutes;

/**
 * Makes the {@link DirectRoute}s routes of Reactor Netty, for the requests that {@link
 * DirectHandler} leaves to it.
 */
@Component
record DirectRoutes(List<DirectRoute> direct, RefusedRequests refused)
    implements NettyRouteProvider {

  private static final Logger log = LoggerFactory.getLogger(DirectRoutes.class);
  private static final byte[] NO_BODY = new byte[0];

  @Override
  public HttpServerRoutes apply(HttpServerRoutes routes) {
    for (DirectRoute route : direct) {
      routes.route(
          request -> route.matches(request.method(), request.uri()),
          (request, response) -> answer(route, request, response));
    }
    return routes;
  }

  private Mono<Void> answer(
      DirectRoute route, HttpServerRequest request, HttpServerResponse response) {
    RequestHead head =
        RequestHead.of(request.uri(), request.requestHeaders(), request.remoteAddress());
    Mono<HttpAnswer> answer =
        body(route, request)
            .flatMap(body -> Mono.fromCompletionStage(() -> decide(route, head, body)))
            .onErrorResume(
                ProblemException.class, // of the body: too large
                e -> {
                  response.keepAlive(false); // the rest of it is not worth reading
                  refused.count(e.problem().code());
                  return Mono.just(HttpAnswer.problem(e.problem(), head.correlationId()));
                });
    return HttpAnswerWriter.send(response, answer, head.correlationId());
  }

  private static Mono<byte[]> body(DirectRoute route, HttpServerRequest request) {
    int maxBytes = route.maxBodyBytes();
    return maxBytes == 0 ? Mono.just(NO_BODY) : BodyReader.read(request, maxBytes);
  }

  /** The route's answer, or 500 when it fails; the result never fails. */
  static CompletionStage<HttpAnswer> decide(DirectRoute route, RequestHead head, byte[] body) {
    CompletionStage<HttpAnswer> answer;
    try {
      answer = route.answer(head, body);
    } catch (RuntimeException e) {
      answer = CompletableFuture.failedFuture(e);
    }
    return answer.exceptionally(
        failure -> {
          log.error("request failed, correlation id {}", head.correlationId(), failure);
          return HttpAnswer.problem(Problem.of(ProblemCode.INTERNAL_ERROR), head.correlationId());
        });
  }
}
