package io.seckill.consumer.ledger;

import io.seckill.support.web.PathIds;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** The ledger of a SKU on the internal port. */
@RestController
record LedgerController(Ledgers ledgers) {

  @GetMapping("/internal/v1/skus/{sku}/ledger")
  SkuLedger show(@PathVariable String sku) {
    return ledgers.of(PathIds.sku(sku));
  }
}
