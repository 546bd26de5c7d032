package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/** The actions of an owner on an order; order-consumer decides and writes. */
@Component
record OrderActions(ConsumerClient consumer, PaymentQueue payments, OrderStatuses statuses) {

  /** An action, and the code of its refusal. */
  enum Action {
    PAY(ProblemCode.NOT_PAYABLE),
    CANCEL(ProblemCode.NOT_CANCELLABLE);

    private final ProblemCode refusal;

    Action(ProblemCode refusal) {
      this.refusal = refusal;
    }
  }

  /**
   * Returns the order after the action; 404 for another user's order, 409 with the status that
   * prevents the action, 429 after too many ids of orders that were not found.
   */
  Mono<OrderView> run(Action action, OrderId id, long userId) {
    if (statuses.isOneTooMany(id, userId)) {
      return Mono.error(ProblemException.of(ProblemCode.TOO_MANY_REQUESTS));
    }
    return call(action, id, userId)
        .onErrorResume(ProblemException.class, e -> afterNotFound(e, action, id, userId));
  }

  /**
   * MySQL had no order with this id: the order may still be queued, or may have been stored since,
   * or the id may be an alias of a stored order.
   */
  private Mono<OrderView> afterNotFound(
      ProblemException e, Action action, OrderId id, long userId) {
    if (!isNotFound(e)) {
      return Mono.error(e);
    }
    return Mono.fromFuture(statuses.of(id, userId))
        .flatMap(
            status -> {
              OrderView order = status.order();
              ProblemException refused = refused(action, order.status());
              return order.status() == OrderStatus.QUEUED || order.status() == OrderStatus.DELAYED
                  ? Mono.error(refused)
                  : call(action, order.orderId(), userId)
                      .onErrorMap(OrderActions::isNotFound, again -> refused)
                      .doOnTerminate(() -> statuses.changed(id));
            });
  }

  private static boolean isNotFound(Throwable e) {
    return e instanceof ProblemException refused && refused.problem().status() == 404;
  }

  private Mono<OrderView> call(Action action, OrderId id, long userId) {
    Mono<OrderRow> now =
        action == Action.PAY ? payments.pay(id, userId) : consumer.onOrder(id, "cancel", userId);
    return now.map(row -> statuses.view(stored(row))).doOnTerminate(() -> statuses.changed(id));
  }

  private static ProblemException refused(Action action, OrderStatus status) {
    return ProblemException.ofOrder(action.refusal, "The order is " + status + ".", status.name());
  }

  private static StoredOrder stored(OrderRow row) {
    return new StoredOrder(
        row.orderId(),
        row.userId(),
        row.skuId(),
        row.quantity(),
        row.status(),
        row.reason(),
        toMillis(row.admittedAt()),
        toMillis(row.createdAt()),
        toMillis(row.updatedAt()));
  }

  private static Instant toMillis(Instant time) {
    return time.truncatedTo(ChronoUnit.MILLIS);
  }
}
