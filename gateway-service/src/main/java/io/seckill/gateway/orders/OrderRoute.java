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
import io.seckill.support.web.ProblemException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Serves {@code GET /api/v1/orders/{id}}, which every shopper polls, and {@code POST
 * /api/v1/orders/{id}/payment} on the server's own event loop: they bypass everything that costs
 * more than the response itself.
 */
@Component
record OrderRoute(
    TokenVerifier tokens,
    RateLimits limits,
    OrderStatuses statuses,
    OrderActions actions,
    RefusedRequests refusedRequests)
    implements DirectRoute {

  private static final String PREFIX = "/api/v1/orders/";
  private static final String PAYMENT = "/payment";

  @Override
  public boolean matches(HttpMethod method, String uri) {
    return idText(uri) != null
        && method.equals(isPayment(path(uri)) ? HttpMethod.POST : HttpMethod.GET);
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
    return isPayment(path(head.uri()))
        ? pay(id, identity.userId(), correlationId)
        : statuses.of(id, identity.userId()).thenApply(status -> answer(status, correlationId));
  }

  private CompletionStage<HttpAnswer> pay(OrderId id, long userId, String correlationId) {
    return actions
        .run(OrderActions.Action.PAY, id, userId)
        .map(order -> HttpAnswer.json(200, order.json()))
        .onErrorResume(
            ProblemException.class,
            e -> {
              refusedRequests.count(e.problem().code());
              return Mono.just(HttpAnswer.problem(e.problem(), correlationId));
            })
        .toFuture();
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

  /** The id in the path, not validated yet; null when the path is neither of the two. */
  private static @Nullable String idText(String uri) {
    String path = path(uri);
    int end = path.length() - (isPayment(path) ? PAYMENT.length() : 0);
    return end > PREFIX.length()
            && path.startsWith(PREFIX)
            && path.lastIndexOf('/', end - 1) == PREFIX.length() - 1
        ? path.substring(PREFIX.length(), end)
        : null;
  }

  private static boolean isPayment(String path) {
    return path.endsWith(PAYMENT);
  }

  private static String path(String uri) {
    int query = uri.indexOf('?');
    return query < 0 ? uri : uri.substring(0, query);
  }
}
