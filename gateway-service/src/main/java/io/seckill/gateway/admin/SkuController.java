package io.seckill.gateway.admin;

import io.seckill.common.order.OrderMessage;
import io.seckill.gateway.admin.SaleControl.Stopped;
import io.seckill.gateway.backends.ConsumerAnswer;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.backends.ProductEdit;
import io.seckill.gateway.web.Caller;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.ProductRow;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/** Products and their sales, for operators. */
@RestController
@RequestMapping("/admin/v1/skus/{sku}")
final class SkuController {

  private final ConsumerClient consumer;
  private final Preheat preheat;
  private final SaleControl sales;
  private final ReactiveAudit audit;

  SkuController(ConsumerClient consumer, Preheat preheat, SaleControl sales, ReactiveAudit audit) {
    this.consumer = consumer;
    this.preheat = preheat;
    this.sales = sales;
    this.audit = audit;
  }

  @GetMapping
  Mono<ProductRow> show(@PathVariable String sku) {
    return consumer.product(PathIds.sku(sku));
  }

  @PutMapping(consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<ResponseEntity<ProductRow>> put(
      @PathVariable String sku,
      @RequestBody(required = false) byte @Nullable [] body,
      ServerWebExchange exchange) {
    long skuId = PathIds.sku(sku);
    ProductEdit edit = ProductBody.checked(orEmpty(body));
    Mono<ResponseEntity<ProductRow>> write =
        consumer
            .putProduct(skuId, edit, Caller.operatorOf(exchange))
            .flatMap(
                answer ->
                    sales
                        .extend(ConsumerClient.product(answer))
                        .map(product -> ResponseEntity.status(answer.status()).body(product)));
    return audit.write(exchange, "put", "sku=" + skuId, write);
  }

  @PostMapping("/preheat")
  Mono<ProductRow> preheat(@PathVariable String sku, ServerWebExchange exchange) {
    long skuId = PathIds.sku(sku);
    return audit.write(
        exchange, "preheat", "sku=" + skuId, preheat.run(skuId, Caller.operatorOf(exchange)));
  }

  @PostMapping("/open")
  Mono<ProductRow> open(@PathVariable String sku, ServerWebExchange exchange) {
    return start(SaleControl.Start.OPEN, "open", sku, exchange);
  }

  @PostMapping("/pause")
  Mono<ResponseEntity<Object>> pause(@PathVariable String sku, ServerWebExchange exchange) {
    return stop(SaleControl.Stop.PAUSE, "pause", sku, exchange);
  }

  @PostMapping("/resume")
  Mono<ProductRow> resume(@PathVariable String sku, ServerWebExchange exchange) {
    return start(SaleControl.Start.RESUME, "resume", sku, exchange);
  }

  @PostMapping("/close")
  Mono<ResponseEntity<Object>> close(@PathVariable String sku, ServerWebExchange exchange) {
    return stop(SaleControl.Stop.CLOSE, "close", sku, exchange);
  }

  @PostMapping(path = "/stock", consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<ResponseEntity<JsonNode>> stock(
      @PathVariable String sku,
      @RequestHeader(name = ConsumerClient.IDEMPOTENCY_KEY_HEADER, required = false)
          @Nullable String key,
      @RequestBody(required = false) byte @Nullable [] body,
      ServerWebExchange exchange) {
    long skuId = PathIds.sku(sku);
    String changeId = checkedKey(key);
    StockBody.Change change = StockBody.checked(orEmpty(body));
    Mono<ConsumerAnswer> write =
        consumer.changeStock(
            skuId, change.delta(), change.reason(), changeId, Caller.operatorOf(exchange));
    return audit
        .write(
            exchange,
            "stock",
            "sku=" + skuId + " delta=" + change.delta() + " change=" + changeId,
            write)
        .map(answer -> ResponseEntity.status(answer.status()).body(answer.body()));
  }

  private Mono<ProductRow> start(
      SaleControl.Start action, String word, String sku, ServerWebExchange exchange) {
    long skuId = PathIds.sku(sku);
    return audit.write(
        exchange, word, "sku=" + skuId, sales.start(action, skuId, Caller.operatorOf(exchange)));
  }

  private Mono<ResponseEntity<Object>> stop(
      SaleControl.Stop action, String word, String sku, ServerWebExchange exchange) {
    long skuId = PathIds.sku(sku);
    return audit
        .write(
            exchange,
            word,
            "sku=" + skuId,
            sales.stop(action, skuId, Caller.operatorOf(exchange)),
            stopped ->
                stopped instanceof Stopped.Partly partly
                    ? "awaiting=" + partly.accepted().awaiting()
                    : "done")
        .map(SkuController::answer);
  }

  private static ResponseEntity<Object> answer(Stopped stopped) {
    return stopped instanceof Stopped.Everywhere everywhere
        ? ResponseEntity.ok(everywhere.product())
        : ResponseEntity.accepted().body(((Stopped.Partly) stopped).accepted());
  }

  private static String checkedKey(@Nullable String key) {
    if (key == null || !OrderMessage.REQUEST_ID.matcher(key).matches()) {
      throw ProblemException.invalid(
          ConsumerClient.IDEMPOTENCY_KEY_HEADER,
          "Idempotency-Key must be 8..64 characters of A-Z, a-z, 0-9, _ and -.");
    }
    return key;
  }

  /** Treats an absent body as an empty one, which is not valid JSON. */
  private static byte[] orEmpty(byte @Nullable [] body) {
    return body == null ? new byte[0] : body;
  }
}
