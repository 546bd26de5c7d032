package io.seckill.gateway.orders;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.seckill.common.order.OrderId;
import io.seckill.gateway.security.Identity;
import io.seckill.gateway.security.RateLimits;
import io.seckill.gateway.security.TokenVerifier;
import io.seckill.gateway.web.DirectRoute;
import io.seckill.gateway.web.HttpAnswer;
import io.seckill.gateway.web.RefusedRequests;
import io.seckill.gateway.web.RequestHead;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Serves {@code GET /api/v1/orders/{id}} on the server's own event loop: every shopper polls it, so
 * it bypasses everything that costs more than the response itself.
 */
@Component
final class StatusRoute implements DirectRoute {

  private static final String PREFIX = "/api/v1/orders/";

  private final TokenVerifier tokens;
  private final RateLimits limits;
  private final OrderStatuses statuses;
  private final RefusedRequests refusedRequests;

  StatusRoute(
      TokenVerifier tokens,
      RateLimits limits,
      OrderStatuses statuses,
      RefusedRequests refusedRequests) {
    this.tokens = tokens;
    this.limits = limits;
    this.statuses = statuses;
    this.refusedRequests = refusedRequests;
  }

  @Override
  public boolean matches(HttpMethod method, String uri) {
    return method.equals(HttpMethod.GET) && idText(uri) != null;
  }

  @Override
  public int maxBodyBytes() {
    return 0;
  }

  @Override
  public CompletionStage<HttpAnswer> answer(RequestHead head, byte[] body) {
    String correlationId = head.correlationId();
    if (!limits.admitsAddress(head.peer(), head.headers())) {
      return refused(ProblemCode.TOO_MANY_REQUESTS, correlationId);
    }
    Identity identity = tokens.identify(head.headers().get(HttpHeaderNames.AUTHORIZATION));
    if (identity == null) {
      return refused(tokens.refusal(), correlationId);
    }
    if (!identity.isShopper()) {
      return refused(ProblemCode.FORBIDDEN, correlationId);
    }
    if (!limits.admitsUser(identity.userId())) {
      return refused(ProblemCode.TOO_MANY_REQUESTS, correlationId);
    }
    if (!head.acceptsJson()) {
      return refused(ProblemCode.NOT_ACCEPTABLE, correlationId);
    }
    OrderId id = id(head.uri());
    if (id == null) {
      return refused(ProblemCode.UNKNOWN_ORDER, correlationId);
    }
    return statuses.of(id, identity.userId()).thenApply(status -> answer(status, correlationId));
  }

  private static HttpAnswer answer(OrderStatuses.Status status, String correlationId) {
    if (status instanceof OrderStatuses.Status.Known known) {
      return HttpAnswer.json(200, known.order().json());
    }
    return problem(((OrderStatuses.Status.None) status).code, correlationId);
  }

  private CompletionStage<HttpAnswer> refused(ProblemCode code, String correlationId) {
    refusedRequests.count(code);
    return CompletableFuture.completedFuture(problem(code, correlationId));
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
