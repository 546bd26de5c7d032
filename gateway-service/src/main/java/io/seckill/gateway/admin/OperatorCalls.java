package io.seckill.gateway.admin;

import io.seckill.common.sale.Decider;
import io.seckill.gateway.admin.OperatorRoute.Target;
import io.seckill.gateway.admin.OperatorRoute.Trait;
import io.seckill.gateway.backends.ConsumerAnswer;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.web.Caller;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.Operator;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.stereotype.Component;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.reactive.result.method.RequestMappingInfo;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * Passes the calls of {@link OperatorRoute} on to order-consumer, which checks and carries them
 * out; its answers are returned unchanged. After a change of a strong sale, or of a SKU with
 * shards, this gateway reads the products again before it answers, so that it sends the next
 * purchase to the store or shard that decides it.
 */
@Component
final class OperatorCalls {

  private static final String IDEMPOTENCY_KEY = "Idempotency-Key";

  /** A key of this length is refused; more of it might not fit into the headers. */
  private static final int REFUSED_KEY_CHARS = 65;

  /** The products are read four times a second at most. */
  private static final Duration READ_WITHIN = Duration.ofSeconds(1);

  private static final Method WITHOUT_BODY =
      ClassUtils.getMethod(Handler.class, "call", Map.class, ServerWebExchange.class);

  private static final Method WITH_BODY =
      ClassUtils.getMethod(Handler.class, "body", Map.class, byte[].class, ServerWebExchange.class);

  private final ConsumerClient consumer;
  private final ReactiveAudit audit;
  private final ProductCache products;

  OperatorCalls(ConsumerClient consumer, ReactiveAudit audit, ProductCache products) {
    this.consumer = consumer;
    this.audit = audit;
    this.products = products;
  }

  /**
   * Adds the routes, as annotations of a controller would. Spring calls no such method of a record.
   */
  @Autowired
  void addTo(@Qualifier("requestMappingHandlerMapping") RequestMappingHandlerMapping mappings) {
    for (OperatorRoute route : OperatorRoute.values()) {
      RequestMappingInfo.Builder mapping =
          RequestMappingInfo.paths("/admin/v1" + route.path())
              .methods(route.method())
              .produces(MediaType.APPLICATION_JSON_VALUE);
      if (route.has(Trait.BODY)) {
        mapping.consumes(MediaType.APPLICATION_JSON_VALUE);
      }
      mappings.registerMapping(
          mapping.build(), new Handler(route), route.has(Trait.BODY) ? WITH_BODY : WITHOUT_BODY);
    }
  }

  /** Handles the calls of one route. */
  final class Handler {

    private final OperatorRoute route;

    Handler(OperatorRoute route) {
      this.route = route;
    }

    public Mono<ResponseEntity<JsonNode>> call(
        @PathVariable Map<String, String> ids, ServerWebExchange exchange) {
      return pass(route, route.target(ids), null, exchange);
    }

    /** Treats an absent body as an empty one, which order-consumer refuses. */
    public Mono<ResponseEntity<JsonNode>> body(
        @PathVariable Map<String, String> ids,
        @RequestBody(required = false) byte @Nullable [] body,
        ServerWebExchange exchange) {
      return pass(route, route.target(ids), body == null ? new byte[0] : body, exchange);
    }
  }

  private Mono<ResponseEntity<JsonNode>> pass(
      OperatorRoute route, Target target, byte @Nullable [] body, ServerWebExchange exchange) {
    Mono<ConsumerAnswer> answer =
        route.method() == RequestMethod.GET
            ? read(route, target, exchange)
            : write(route, target, body, exchange);
    return answer.map(known -> ResponseEntity.status(known.status()).body(known.body()));
  }

  private Mono<ConsumerAnswer> read(
      OperatorRoute route, Target target, ServerWebExchange exchange) {
    String query = route.has(Trait.QUERY) ? exchange.getRequest().getURI().getRawQuery() : null;
    Mono<ConsumerAnswer> answer =
        consumer.forward(
            HttpMethod.GET,
            target.path() + (query == null ? "" : "?" + query),
            null,
            Map.of(),
            false);
    return route == OperatorRoute.PRODUCT ? answer.doOnNext(OperatorCalls::requireProduct) : answer;
  }

  private static void requireProduct(ConsumerAnswer answer) {
    try {
      var unused = answer.as(ProductRow.class);
    } catch (JacksonException e) {
      throw ProblemException.of(ProblemCode.DATABASE_UNAVAILABLE);
    }
  }

  private Mono<ConsumerAnswer> write(
      OperatorRoute route, Target target, byte @Nullable [] body, ServerWebExchange exchange) {
    Map<String, String> headers = new HashMap<>();
    headers.put(Operator.HEADER, Caller.operatorOf(exchange));
    List<String> keys = exchange.getRequest().getHeaders().getOrEmpty(IDEMPOTENCY_KEY);
    if (!keys.isEmpty()) {
      String key = String.join(",", keys); // no key has a comma: two are refused
      headers.put(IDEMPOTENCY_KEY, key.substring(0, Math.min(key.length(), REFUSED_KEY_CHARS)));
    }
    return audit.write(
        exchange,
        route.action(),
        target.subject(),
        consumer
            .forward(
                route.method().asHttpMethod(), target.path(), body, headers, route.has(Trait.LONG))
            .flatMap(answer -> isRouted(answer.body()) ? afterReading(answer) : Mono.just(answer)),
        answer -> "done");
  }

  /** Whether the answer is a product that MySQL decides, or that has shards. */
  private static boolean isRouted(JsonNode answered) {
    return answered.path("decides").asString("").equals(Decider.MYSQL.name())
        || answered.path("shards").asInt(1) > 1;
  }

  /** The change is made, so its answer is the same when the products cannot be read. */
  private <T> Mono<T> afterReading(T answer) {
    return products.readAgain().timeout(READ_WITHIN).onErrorComplete().thenReturn(answer);
  }
}
