package io.seckill.gateway.orders;

import io.netty.handler.codec.http.HttpMethod;
import io.seckill.common.order.OrderId;
import io.seckill.gateway.web.HttpAnswer;
import io.seckill.gateway.web.RequestHead;
import io.seckill.gateway.web.ShopperCheck;
import io.seckill.gateway.web.ShopperRoute;
import io.seckill.support.web.Problem;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
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
record OrderRoute(ShopperCheck shoppers, OrderStatuses statuses, OrderActions actions)
    implements ShopperRoute {

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
  public CompletionStage<HttpAnswer> answer(long userId, RequestHead head, byte[] body) {
    if (!head.acceptsJson()) {
      return shoppers.refused(ProblemCode.NOT_ACCEPTABLE, head);
    }
    OrderId id = id(head.uri());
    if (id == null) {
      return shoppers.refused(ProblemCode.UNKNOWN_ORDER, head);
    }
    return isPayment(path(head.uri()))
        ? pay(id, userId, head)
        : statuses.of(id, userId).thenApply(status -> answer(status, head));
  }

  private CompletionStage<HttpAnswer> pay(OrderId id, long userId, RequestHead head) {
    return actions
        .run(OrderActions.Action.PAY, id, userId)
        .map(order -> HttpAnswer.json(200, order.json()))
        .onErrorResume(ProblemException.class, e -> Mono.just(shoppers.refusal(e.problem(), head)))
        .toFuture();
  }

  private HttpAnswer answer(OrderStatuses.Status status, RequestHead head) {
    return status instanceof OrderStatuses.Status.Known known
        ? HttpAnswer.json(200, known.order().json())
        : shoppers.refusal(Problem.of(((OrderStatuses.Status.None) status).code), head);
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
