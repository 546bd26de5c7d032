package io.seckill.consumer.storage;

import io.seckill.consumer.web.JsonBody;
import io.seckill.support.contract.StrongPurchases;
import io.seckill.support.contract.StrongPurchases.Decisions;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Purchases of strong sales on the internal port (docs/adr/0020-strong-sales.md). */
@RestController
record StrongPurchaseController(StrongSales sales) {

  @PostMapping("/internal/v1/purchases")
  Decisions decide(@JsonBody StrongPurchases body) {
    return new Decisions(sales.decide(body.purchases()));
  }
}
