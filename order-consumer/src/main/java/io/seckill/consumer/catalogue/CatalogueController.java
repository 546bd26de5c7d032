package io.seckill.consumer.catalogue;

import io.seckill.common.sale.LoadSettings;
import io.seckill.common.sale.SaleState;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProductRow;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Products and sale states on the internal port. */
@RestController
@RequestMapping("/internal/v1/skus/{sku}")
class CatalogueController {

  private final Catalogue catalogue;
  private final Preheat preheat;
  private final AuditLog audit;

  CatalogueController(Catalogue catalogue, Preheat preheat, AuditLog audit) {
    this.catalogue = catalogue;
    this.preheat = preheat;
    this.audit = audit;
  }

  @GetMapping
  ProductRow show(@PathVariable String sku) {
    return catalogue.find(PathIds.sku(sku));
  }

  @PutMapping
  ResponseEntity<ProductRow> put(@PathVariable String sku, Operator operator, JsonBody body) {
    long skuId = PathIds.sku(sku);
    ProductRules rules = ProductRules.of(body);
    Catalogue.Upserted upserted =
        audit.audited(
            operator,
            "put",
            "sku=" + skuId,
            () -> catalogue.upsert(skuId, rules),
            done -> (done.created() ? "created stock=" : "edited stock=") + done.row().stock());
    return ResponseEntity.status(upserted.created() ? 201 : 200).body(upserted.row());
  }

  @PostMapping("/preheat")
  ProductRow preheat(@PathVariable String sku, Operator operator, JsonBody body) {
    long skuId = PathIds.sku(sku);
    Preheat.Loading loading =
        new Preheat.Loading(
            body.optionalInteger("maxPerOrder", 1, LoadSettings.MOST_PER_ORDER),
            body.optionalInteger(
                "retentionSeconds",
                LoadSettings.SHORTEST_RETENTION.toSeconds(),
                LoadSettings.LONGEST_RETENTION.toSeconds()));
    body.end();
    return audit.audited(
        operator,
        "preheat",
        "sku=" + skuId,
        () -> preheat.of(skuId, loading),
        row -> "epoch=" + row.epoch());
  }

  @PostMapping("/state")
  ProductRow state(@PathVariable String sku, Operator operator, JsonBody body) {
    long skuId = PathIds.sku(sku);
    SaleState target = body.oneOf("state", SaleState.REQUESTABLE);
    body.end();
    return audit.audited(
        operator,
        "state",
        "sku=" + skuId,
        () -> target == SaleState.OPEN ? catalogue.open(skuId) : catalogue.stop(skuId, target),
        row -> "state=" + target);
  }
}
