package io.seckill.gateway.admin;

import io.seckill.gateway.backends.ConsumerAnswer;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.web.Caller;
import io.seckill.support.web.PathIds;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/**
 * Operators' endpoints for a SKU's ledger and for the reconciliation of Redis with MySQL;
 * order-consumer reads and performs both.
 */
@RestController
@RequestMapping("/admin/v1/skus/{sku}")
final class ConsistencyController {

  private final ConsumerClient consumer;
  private final ReactiveAudit audit;

  ConsistencyController(ConsumerClient consumer, ReactiveAudit audit) {
    this.consumer = consumer;
    this.audit = audit;
  }

  @GetMapping("/ledger")
  Mono<JsonNode> ledger(@PathVariable String sku) {
    return consumer.ledger(PathIds.sku(sku)).map(ConsumerAnswer::body);
  }

  @PostMapping(path = "/reconciliation", consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<ResponseEntity<JsonNode>> run(
      @PathVariable String sku,
      @RequestBody(required = false) byte @Nullable [] body,
      ServerWebExchange exchange) {
    long skuId = PathIds.sku(sku);
    boolean dryRun = ReconciliationBody.checked(body == null ? new byte[0] : body);
    return pass(
        audit.write(
            exchange,
            "reconcile",
            "sku=" + skuId + " dryRun=" + dryRun,
            consumer.reconcile(skuId, dryRun, Caller.operatorOf(exchange))));
  }

  @GetMapping("/reconciliation")
  Mono<ResponseEntity<JsonNode>> latest(@PathVariable String sku) {
    return pass(consumer.reconciliations(PathIds.sku(sku)));
  }

  private static Mono<ResponseEntity<JsonNode>> pass(Mono<ConsumerAnswer> answer) {
    return answer.map(good -> ResponseEntity.status(good.status()).body(good.body()));
  }
}
