package io.seckill.gateway.admin;

import io.seckill.common.sale.Decider;
import io.seckill.gateway.admin.SaleStopper.Stopped;
import io.seckill.gateway.backends.ConsumerAnswer;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.web.Caller;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/**
 * The operators' endpoints. Order-consumer checks and carries out the calls, and its answers are
 * returned unchanged; only a pause and a close are made here, because they must work while
 * order-consumer is unavailable. After a change of a strong sale this gateway reads the products
 * again before it answers, so that it sends the next purchase to the store that decides it.
 */
@RestController
@RequestMapping(path = "/admin/v1", produces = MediaType.APPLICATION_JSON_VALUE)
final class AdminController {

  private static final String IDEMPOTENCY_KEY = "Idempotency-Key";

  /** The products are read four times a second at most. */
  private static final Duration READ_WITHIN = Duration.ofSeconds(1);

  private final ConsumerClient consumer;
  private final SaleStopper stopper;
  private final ReactiveAudit audit;
  private final ProductCache products;

  AdminController(
      ConsumerClient consumer, SaleStopper stopper, ReactiveAudit audit, ProductCache products) {
    this.consumer = consumer;
    this.stopper = stopper;
    this.audit = audit;
    this.products = products;
  }

  @GetMapping("/skus/{sku}")
  Mono<ResponseEntity<JsonNode>> product(@PathVariable String sku) {
    return read("/skus/" + PathIds.sku(sku))
        .doOnNext(ConsumerClient::product)
        .map(AdminController::entity);
  }

  @GetMapping("/skus/{sku}/ledger")
  Mono<ResponseEntity<JsonNode>> ledger(@PathVariable String sku) {
    return read("/skus/" + PathIds.sku(sku) + "/ledger").map(AdminController::entity);
  }

  @GetMapping("/skus/{sku}/reconciliation")
  Mono<ResponseEntity<JsonNode>> reconciliations(@PathVariable String sku) {
    return read("/skus/" + PathIds.sku(sku) + "/reconciliation").map(AdminController::entity);
  }

  @GetMapping("/dead-letters")
  Mono<ResponseEntity<JsonNode>> deadLetters(ServerWebExchange exchange) {
    return list("/dead-letters", exchange);
  }

  @GetMapping("/unexplained-charges")
  Mono<ResponseEntity<JsonNode>> unexplainedCharges(ServerWebExchange exchange) {
    return list("/unexplained-charges", exchange);
  }

  @GetMapping("/audits")
  Mono<ResponseEntity<JsonNode>> audits(ServerWebExchange exchange) {
    return list("/audits", exchange);
  }

  private Mono<ResponseEntity<JsonNode>> list(String path, ServerWebExchange exchange) {
    String query = exchange.getRequest().getURI().getRawQuery();
    return read(path + (query == null ? "" : "?" + query)).map(AdminController::entity);
  }

  @GetMapping("/dead-letters/{id}")
  Mono<ResponseEntity<JsonNode>> deadLetter(@PathVariable String id) {
    return read("/dead-letters/" + PathIds.number("id", id)).map(AdminController::entity);
  }

  @GetMapping("/fallback")
  Mono<ResponseEntity<JsonNode>> fallback() {
    return read("/fallback").map(AdminController::entity);
  }

  @PostMapping("/fallback/enter")
  Mono<ResponseEntity<JsonNode>> enterFallback(ServerWebExchange exchange) {
    return ofFallback(exchange, "fallback-enter", HttpMethod.POST, "/enter", null);
  }

  @PostMapping("/fallback/leave")
  Mono<ResponseEntity<JsonNode>> leaveFallback(ServerWebExchange exchange) {
    return ofFallback(exchange, "fallback-leave", HttpMethod.POST, "/leave", null);
  }

  @PutMapping(path = "/fallback/settings", consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<ResponseEntity<JsonNode>> fallbackSettings(
      @RequestBody(required = false) byte @Nullable [] body, ServerWebExchange exchange) {
    return ofFallback(exchange, "fallback-settings", HttpMethod.PUT, "/settings", orEmpty(body));
  }

  private Mono<ResponseEntity<JsonNode>> ofFallback(
      ServerWebExchange exchange,
      String action,
      HttpMethod method,
      String rest,
      byte @Nullable [] body) {
    return write(exchange, action, Target.FALLBACK, method, rest, body, false);
  }

  @PostMapping("/skus/{sku}/release-reserve")
  Mono<ResponseEntity<JsonNode>> releaseReserve(
      @PathVariable String sku, ServerWebExchange exchange) {
    return ofSale("release-reserve", sku, exchange, false);
  }

  @PostMapping("/skus/{sku}/audit")
  Mono<ResponseEntity<JsonNode>> auditSale(@PathVariable String sku, ServerWebExchange exchange) {
    return ofSale("audit", sku, exchange, true);
  }

  @PostMapping("/skus/{sku}/archive")
  Mono<ResponseEntity<JsonNode>> archive(@PathVariable String sku, ServerWebExchange exchange) {
    return ofSale("archive", sku, exchange, true);
  }

  @PutMapping(path = "/skus/{sku}", consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<ResponseEntity<JsonNode>> put(
      @PathVariable String sku,
      @RequestBody(required = false) byte @Nullable [] body,
      ServerWebExchange exchange) {
    return write(exchange, "put", Target.sku(sku), HttpMethod.PUT, "", orEmpty(body), true);
  }

  @PostMapping("/skus/{sku}/preheat")
  Mono<ResponseEntity<JsonNode>> preheat(@PathVariable String sku, ServerWebExchange exchange) {
    return ofSale("preheat", sku, exchange, true);
  }

  @PostMapping("/skus/{sku}/open")
  Mono<ResponseEntity<JsonNode>> open(@PathVariable String sku, ServerWebExchange exchange) {
    return ofSale("open", sku, exchange, false);
  }

  @PostMapping("/skus/{sku}/resume")
  Mono<ResponseEntity<JsonNode>> resume(@PathVariable String sku, ServerWebExchange exchange) {
    return ofSale("resume", sku, exchange, false);
  }

  private Mono<ResponseEntity<JsonNode>> ofSale(
      String action, String sku, ServerWebExchange exchange, boolean isLong) {
    return write(exchange, action, Target.sku(sku), HttpMethod.POST, "/" + action, null, isLong);
  }

  @PostMapping("/skus/{sku}/pause")
  Mono<ResponseEntity<Object>> pause(@PathVariable String sku, ServerWebExchange exchange) {
    return stop(SaleStopper.Stop.PAUSE, "pause", sku, exchange);
  }

  @PostMapping("/skus/{sku}/close")
  Mono<ResponseEntity<Object>> close(@PathVariable String sku, ServerWebExchange exchange) {
    return stop(SaleStopper.Stop.CLOSE, "close", sku, exchange);
  }

  @PostMapping(path = "/skus/{sku}/stock", consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<ResponseEntity<JsonNode>> stock(
      @PathVariable String sku,
      @RequestBody(required = false) byte @Nullable [] body,
      ServerWebExchange exchange) {
    return write(
        exchange, "stock", Target.sku(sku), HttpMethod.POST, "/stock", orEmpty(body), false);
  }

  @PostMapping(path = "/skus/{sku}/reconciliation", consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<ResponseEntity<JsonNode>> reconcile(
      @PathVariable String sku,
      @RequestBody(required = false) byte @Nullable [] body,
      ServerWebExchange exchange) {
    return write(
        exchange,
        "reconcile",
        Target.sku(sku),
        HttpMethod.POST,
        "/reconciliation",
        orEmpty(body),
        true);
  }

  @PostMapping("/dead-letters/{id}/replay")
  Mono<ResponseEntity<JsonNode>> replay(@PathVariable String id, ServerWebExchange exchange) {
    return write(
        exchange, "replay", Target.deadLetter(id), HttpMethod.POST, "/replay", null, false);
  }

  @PostMapping(path = "/dead-letters/{id}/discard", consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<ResponseEntity<JsonNode>> discard(
      @PathVariable String id,
      @RequestBody(required = false) byte @Nullable [] body,
      ServerWebExchange exchange) {
    return write(
        exchange,
        "discard",
        Target.deadLetter(id),
        HttpMethod.POST,
        "/discard",
        orEmpty(body),
        false);
  }

  @PostMapping(
      path = "/unexplained-charges/{id}/close",
      consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<ResponseEntity<JsonNode>> closeCharge(
      @PathVariable String id,
      @RequestBody(required = false) byte @Nullable [] body,
      ServerWebExchange exchange) {
    Target charge = Target.unexplainedCharge(id);
    return write(exchange, "close", charge, HttpMethod.POST, "/close", orEmpty(body), false);
  }

  private Mono<ConsumerAnswer> read(String pathAndQuery) {
    return consumer.forward(HttpMethod.GET, pathAndQuery, null, Map.of(), false);
  }

  /**
   * What a call is about.
   *
   * @param path of order-consumer
   * @param subject for the audit log
   */
  private record Target(String path, String subject) {

    static final Target FALLBACK = new Target("/fallback", "fallback");

    static Target sku(String text) {
      long sku = PathIds.sku(text);
      return new Target("/skus/" + sku, "sku=" + sku);
    }

    static Target deadLetter(String text) {
      long id = PathIds.number("id", text);
      return new Target("/dead-letters/" + id, "deadLetter=" + id);
    }

    static Target unexplainedCharge(String text) {
      long id = PathIds.number("id", text);
      return new Target("/unexplained-charges/" + id, "unexplainedCharge=" + id);
    }
  }

  private Mono<ResponseEntity<JsonNode>> write(
      ServerWebExchange exchange,
      String action,
      Target target,
      HttpMethod method,
      String rest,
      byte @Nullable [] body,
      boolean isLong) {
    Map<String, String> headers = new HashMap<>();
    headers.put(Operator.HEADER, Caller.operatorOf(exchange));
    String key = exchange.getRequest().getHeaders().getFirst(IDEMPOTENCY_KEY);
    if (key != null) {
      headers.put(IDEMPOTENCY_KEY, key);
    }
    return audit
        .write(
            exchange,
            action,
            target.subject(),
            consumer
                .forward(method, target.path() + rest, body, headers, isLong)
                .flatMap(
                    answer -> isStrong(answer.body()) ? afterReading(answer) : Mono.just(answer)))
        .map(AdminController::entity);
  }

  /** Whether the answer is a product that MySQL decides. */
  private static boolean isStrong(JsonNode answered) {
    return answered.path("decides").asString("").equals(Decider.MYSQL.name());
  }

  /** The change is made, so its answer is the same when the products cannot be read. */
  private <T> Mono<T> afterReading(T answer) {
    return products.readAgain().timeout(READ_WITHIN).onErrorComplete().thenReturn(answer);
  }

  private Mono<ResponseEntity<Object>> stop(
      SaleStopper.Stop stop, String action, String sku, ServerWebExchange exchange) {
    long skuId = PathIds.sku(sku);
    return audit
        .write(
            exchange,
            action,
            "sku=" + skuId,
            stopper.stop(stop, skuId, Caller.operatorOf(exchange)),
            stopped ->
                stopped instanceof Stopped.Partly partly
                    ? "awaiting=" + partly.accepted().awaiting()
                    : "done")
        .map(AdminController::entity);
  }

  private static ResponseEntity<Object> entity(Stopped stopped) {
    return stopped instanceof Stopped.Everywhere everywhere
        ? ResponseEntity.ok(everywhere.product())
        : ResponseEntity.accepted().body(((Stopped.Partly) stopped).accepted());
  }

  private static ResponseEntity<JsonNode> entity(ConsumerAnswer answer) {
    return ResponseEntity.status(answer.status()).body(answer.body());
  }

  /** Treats an absent body as an empty one, which order-consumer refuses. */
  private static byte[] orEmpty(byte @Nullable [] body) {
    return body == null ? new byte[0] : body;
  }
}
