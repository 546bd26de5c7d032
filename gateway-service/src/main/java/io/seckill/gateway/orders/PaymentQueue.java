package io.seckill.gateway.orders;

import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.batching.BatchCall;
import io.seckill.gateway.batching.PendingRequest;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.batching.RequestBatcherProperties;
import io.seckill.gateway.web.StreamPlaces;
import io.seckill.support.contract.OrderPayments;
import io.seckill.support.contract.OrderPayments.OrderPayment;
import io.seckill.support.contract.OrderPayments.PaymentOutcome;
import io.seckill.support.contract.OrderRow;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

/**
 * Sends payments to order-consumer: one at once, those that arrive during a call together in the
 * next one. After a large list the next one waits a little for more. Thread-safe.
 */
@Component
final class PaymentQueue implements DisposableBean {

  /**
   * Payments of one shopper that are sent alone at once: a provider may keep each waiting, and all
   * shoppers share 32 connections.
   */
  static final int MOST_ALONE = 4;

  /** Payments of a list after which others are likely to arrive at once. */
  private static final int LARGE = 8;

  /** Half of what a call takes: a busy gateway gets as many payments again meanwhile. */
  private static final Duration REST = Duration.ofMillis(3);

  private final Function<OrderPayment, Mono<OrderRow>> alone;
  private final BatchCall<Payment, PaymentOutcome> call;
  private final Consumer<CountDownLatch> rest;
  private final CountDownLatch stopped = new CountDownLatch(1);
  private final ConcurrentMap<OrderPayment, Mono<OrderRow>> underWay = new ConcurrentHashMap<>();
  private final StreamPlaces placesAlone =
      new StreamPlaces("payments", Integer.MAX_VALUE, MOST_ALONE);
  private final RequestBatcher<Payment> queue;

  @Autowired
  PaymentQueue(
      ConsumerClient consumer,
      @Qualifier("paymentBounds") RequestBatcherProperties bounds,
      MeterRegistry meters) {
    this(
        consumer::pay,
        payment -> consumer.onOrder(payment.orderId(), "payment", payment.userId()),
        bounds,
        PaymentQueue::rest);
    queue.registerDepth(meters);
  }

  /**
   * @param together pays for orders, blocks
   * @param alone pays for one order that must not be in a list
   * @param rest waits for more payments, until the signal of a stop at most
   */
  PaymentQueue(
      Function<OrderPayments, List<PaymentOutcome>> together,
      Function<OrderPayment, Mono<OrderRow>> alone,
      RequestBatcherProperties bounds,
      Consumer<CountDownLatch> rest) {
    this.alone = alone;
    this.call = new BatchCall<>("payments", list -> outcomes(together, list), Payment::answer);
    this.rest = rest;
    this.queue = new RequestBatcher<>("payment", bounds, false, this::send);
  }

  /** A call and its transaction cost as much for few payments as for many. */
  private void send(List<Payment> list) {
    call.execute(list);
    if (list.size() >= LARGE && queue.depth() < OrderPayments.MAX_PAYMENTS) {
      rest.accept(stopped);
    }
  }

  private static void rest(CountDownLatch stopped) {
    try {
      boolean unused = stopped.await(REST.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A payment that waits; its result is null when it must be sent alone. */
  private static final class Payment extends PendingRequest {
    private final OrderPayment payment;
    private final CompletableFuture<OrderRow> result = new CompletableFuture<>();

    Payment(OrderPayment payment) {
      this.payment = payment;
    }

    boolean isOf(PaymentOutcome outcome) {
      OrderRow order = outcome.order();
      return outcome.orderId().equals(payment.orderId())
          && (order == null || order.userId() == payment.userId());
    }

    void answer(PaymentOutcome outcome) {
      try {
        result.complete(outcome.alone() ? null : outcome.paid());
      } catch (ProblemException e) {
        result.completeExceptionally(e);
      }
    }

    @Override
    public void fail(Failure failure) {
      if (!result.isDone()) {
        result.completeExceptionally(
            failure == Failure.NOT_SENT
                ? ProblemException.of(ProblemCode.BUSY)
                : ConsumerClient.unavailable());
      }
    }
  }

  /**
   * Pays for an order.
   *
   * @return the order, PAID; or 404, 409, 429, 503 BUSY when nothing was done, or 503
   *     DATABASE_UNAVAILABLE when it may have been paid
   */
  Mono<OrderRow> pay(OrderId id, long userId) {
    Payment mine = new Payment(new OrderPayment(id, userId));
    queue.submit(mine);
    return Mono.fromFuture(mine.result).switchIfEmpty(Mono.defer(() -> payAlone(mine.payment)));
  }

  /**
   * Repeats share the call under way: while a payment provider answers, each call keeps one of few
   * connections. A shopper who leaves does not end it for the others.
   */
  private Mono<OrderRow> payAlone(OrderPayment payment) {
    return underWay.computeIfAbsent(
        payment,
        one ->
            placesAlone
                .within(one.userId(), () -> alone.apply(one))
                .singleOrEmpty()
                .doFinally(end -> underWay.remove(one))
                .cache());
  }

  private static List<PaymentOutcome> outcomes(
      Function<OrderPayments, List<PaymentOutcome>> together, List<Payment> batch) {
    List<PaymentOutcome> outcomes =
        together.apply(new OrderPayments(batch.stream().map(one -> one.payment).toList()));
    for (int i = 0; i < Math.min(batch.size(), outcomes.size()); i++) {
      if (!batch.get(i).isOf(outcomes.get(i))) {
        throw new IllegalArgumentException("an outcome of another payment");
      }
    }
    return outcomes;
  }

  @Override
  public void destroy() {
    stopped.countDown();
    queue.close();
  }
}
