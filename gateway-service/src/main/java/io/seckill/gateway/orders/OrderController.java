package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import io.seckill.gateway.web.Caller;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The endpoints of a shopper's orders. {@link OrderRoute} is the faster route to one order's status
 * and its payment.
 */
@RestController
@RequestMapping("/api/v1/orders")
record OrderController(
    OrderStatuses statuses, OrderLists lists, OrderEvents events, OrderActions actions) {

  private static final int DEFAULT_LIMIT = 20;
  private static final int MAX_LIMIT = 100;

  /** Interval of comments on an event stream: proxies close a connection that is silent. */
  private static final Duration HEARTBEAT = Duration.ofSeconds(15);

  @GetMapping(produces = MediaType.APPLICATION_JSON_VALUE)
  Mono<String> list(
      @RequestParam(required = false) @Nullable String limit,
      @RequestParam(required = false) @Nullable String cursor,
      ServerWebExchange exchange) {
    return lists
        .page(
            Caller.of(exchange).userId(),
            before(cursor),
            PathIds.limit(limit, DEFAULT_LIMIT, MAX_LIMIT))
        .map(OrderLists.Page::json);
  }

  /** Serves requests that the faster route does not accept, such as HEAD. */
  @GetMapping(path = "/{id}", produces = MediaType.APPLICATION_JSON_VALUE)
  Mono<String> show(@PathVariable String id, ServerWebExchange exchange) {
    return status(id, exchange).map(OrderView::json);
  }

  @GetMapping(path = "/{id}/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
  Flux<ServerSentEvent<String>> events(@PathVariable String id, ServerWebExchange exchange) {
    long userId = Caller.of(exchange).userId();
    OrderId orderId = PathIds.order(id);
    return status(id, exchange)
        .flatMapMany(now -> events.watch(now, orderId, userId))
        .map(OrderController::event)
        .transform(this::withHeartbeat);
  }

  /** Serves spellings of the path that the faster route does not accept. */
  @PostMapping(path = "/{id}/payment", produces = MediaType.APPLICATION_JSON_VALUE)
  Mono<String> pay(@PathVariable String id, ServerWebExchange exchange) {
    return act(OrderActions.Action.PAY, id, exchange);
  }

  @DeleteMapping(path = "/{id}", produces = MediaType.APPLICATION_JSON_VALUE)
  Mono<String> cancel(@PathVariable String id, ServerWebExchange exchange) {
    return act(OrderActions.Action.CANCEL, id, exchange);
  }

  private Mono<String> act(OrderActions.Action action, String id, ServerWebExchange exchange) {
    return actions
        .run(action, PathIds.order(id), Caller.of(exchange).userId())
        .map(OrderView::json);
  }

  private Mono<OrderView> status(String id, ServerWebExchange exchange) {
    return Mono.fromFuture(statuses.of(PathIds.order(id), Caller.of(exchange).userId()))
        .map(OrderStatuses.Status::order);
  }

  private Flux<ServerSentEvent<String>> withHeartbeat(Flux<ServerSentEvent<String>> changes) {
    return changes.publish(
        shared ->
            Flux.merge(
                shared,
                Flux.interval(HEARTBEAT)
                    .onBackpressureDrop()
                    .map(beat -> ServerSentEvent.<String>builder().comment("").build())
                    .takeUntilOther(shared.ignoreElements())));
  }

  private static ServerSentEvent<String> event(OrderView order) {
    return ServerSentEvent.<String>builder().event("status").data(order.json()).build();
  }

  private static long before(@Nullable String cursor) {
    try {
      return cursor == null ? Long.MAX_VALUE : OrderId.parse(cursor).value();
    } catch (IllegalArgumentException e) {
      throw ProblemException.invalid("cursor", "cursor must be the next of an earlier page.");
    }
  }
}
