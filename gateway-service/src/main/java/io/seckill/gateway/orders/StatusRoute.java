package io.seckill.gateway.orders;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.seckill.common.order.OrderId;
import io.seckill.gateway.security.Identity;
import io.seckill.gateway.security.RateLimits;
import io.seckill.gateway.security.TokenVerifier;
import io.seckill.gateway.web.CorrelationId;
import io.seckill.gateway.web.HttpAnswer;
import io.seckill.gateway.web.HttpAnswerWriter;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.boot.reactor.netty.NettyRouteProvider;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;
import reactor.netty.http.server.HttpServerRequest;
import reactor.netty.http.server.HttpServerResponse;
import reactor.netty.http.server.HttpServerRoutes;

/**
 * Serves {@code GET /api/v1/orders/{id}} on the server's own event loop: every shopper polls it, so
 * it bypasses everything that costs more than the response itself.
 */
@Component
final class StatusRoute implements NettyRouteProvider {

  private static final String PREFIX = "/api/v1/orders/";
  private static final HttpAnswer.Header NO_SNIFF =
      new HttpAnswer.Header("X-Content-Type-Options", "nosniff");

  private final TokenVerifier tokens;
  private final RateLimits limits;
  private final OrderStatuses statuses;

  StatusRoute(TokenVerifier tokens, RateLimits limits, OrderStatuses statuses) {
    this.tokens = tokens;
    this.limits = limits;
    this.statuses = statuses;
  }

  @Override
  public HttpServerRoutes apply(HttpServerRoutes routes) {
    return routes.route(StatusRoute::isStatus, this::status);
  }

  private static boolean isStatus(HttpServerRequest request) {
    return request.method().equals(HttpMethod.GET) && idText(request.uri()) != null;
  }

  private Publisher<Void> status(HttpServerRequest request, HttpServerResponse response) {
    String correlationId = CorrelationId.of(request);
    return HttpAnswerWriter.send(response, answer(request, correlationId), correlationId);
  }

  private Mono<HttpAnswer> answer(HttpServerRequest request, String correlationId) {
    if (!limits.admitsAddress(request)) {
      return Mono.just(problem(ProblemCode.TOO_MANY_REQUESTS, correlationId));
    }
    Identity identity =
        tokens.identify(request.requestHeaders().get(HttpHeaderNames.AUTHORIZATION));
    if (identity == null) {
      return Mono.just(problem(ProblemCode.UNAUTHORIZED, correlationId));
    }
    if (!identity.isShopper()) {
      return Mono.just(problem(ProblemCode.FORBIDDEN, correlationId));
    }
    if (!limits.admitsUser(identity.userId())) {
      return Mono.just(problem(ProblemCode.TOO_MANY_REQUESTS, correlationId));
    }
    OrderId id = id(request.uri());
    if (id == null) {
      return Mono.just(problem(ProblemCode.UNKNOWN_ORDER, correlationId));
    }
    return Mono.fromFuture(statuses.of(id, identity.userId()))
        .map(status -> answer(status, correlationId));
  }

  private static HttpAnswer answer(OrderStatuses.Status status, String correlationId) {
    if (status instanceof OrderStatuses.Status.Known known) {
      return HttpAnswer.json(200, known.order().json(), NO_SNIFF);
    }
    return problem(StatusProblems.of(status), correlationId);
  }

  private static HttpAnswer problem(ProblemCode code, String correlationId) {
    return HttpAnswer.problem(Problem.of(code), correlationId);
  }

  private static @Nullable OrderId id(String uri) {
    String text = idText(uri);
    try {
      return text == null ? null : OrderId.parse(text);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** The path's last segment, not validated yet; null when the path is not that of one order. */
  private static @Nullable String idText(String uri) {
    int query = uri.indexOf('?');
    int end = query < 0 ? uri.length() : query;
    if (end <= PREFIX.length()
        || !uri.startsWith(PREFIX)
        || uri.lastIndexOf('/', end - 1) != PREFIX.length() - 1) {
      return null;
    }
    return uri.substring(PREFIX.length(), end);
  }
}
