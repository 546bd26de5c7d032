package io.seckill.gateway.admin;

import io.seckill.gateway.consumer.ConsumerAnswer;
import io.seckill.gateway.consumer.ConsumerClient;
import io.seckill.gateway.web.PathIds;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/**
 * Operators' endpoint for the conservation equation of a SKU; order-consumer reads its balance
 * items.
 */
@RestController
final class LedgerController {

  private final ConsumerClient consumer;

  LedgerController(ConsumerClient consumer) {
    this.consumer = consumer;
  }

  @GetMapping("/admin/v1/skus/{sku}/ledger")
  Mono<JsonNode> show(@PathVariable String sku) {
    return consumer.ledger(PathIds.sku(sku)).map(ConsumerAnswer::body);
  }
}
