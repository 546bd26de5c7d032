package io.seckill.consumer.loading;

import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProductRow;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Preheats on the internal port. */
@RestController
class PreheatController {

  private final Preheat preheat;
  private final AuditLog audit;

  PreheatController(Preheat preheat, AuditLog audit) {
    this.preheat = preheat;
    this.audit = audit;
  }

  @PostMapping("/internal/v1/skus/{sku}/preheat")
  ProductRow preheat(@PathVariable String sku, Operator operator) {
    long skuId = PathIds.sku(sku);
    return audit.audited(
        operator,
        "preheat",
        "sku=" + skuId,
        () -> preheat.run(skuId),
        row -> "epoch=" + row.epoch());
  }
}
