package io.seckill.consumer.catalogue;

import io.seckill.common.sale.SaleState;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProductRow;
import io.seckill.support.web.RequestChecks;
import org.jspecify.annotations.Nullable;
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
  private final SaleOpening opening;
  private final AuditLog audit;

  CatalogueController(Catalogue catalogue, Preheat preheat, SaleOpening opening, AuditLog audit) {
    this.catalogue = catalogue;
    this.preheat = preheat;
    this.opening = opening;
    this.audit = audit;
  }

  @GetMapping
  ProductRow show(@PathVariable String sku) {
    return catalogue.find(PathIds.sku(sku));
  }

  @PutMapping
  ResponseEntity<ProductRow> put(
      @PathVariable String sku, Operator operator, @JsonBody ProductEntry body) {
    long skuId = PathIds.sku(sku);
    ProductRules rules = body.rules();
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
  ProductRow preheat(@PathVariable String sku, Operator operator) {
    long skuId = PathIds.sku(sku);
    return audit.audited(
        operator,
        "preheat",
        "sku=" + skuId,
        () -> preheat.run(skuId),
        row -> "epoch=" + row.epoch());
  }

  @PostMapping("/open")
  ProductRow open(@PathVariable String sku, Operator operator) {
    return open("open", sku, SaleState.PREHEATED, operator);
  }

  @PostMapping("/resume")
  ProductRow resume(@PathVariable String sku, Operator operator) {
    return open("resume", sku, SaleState.PAUSED, operator);
  }

  private ProductRow open(String action, String sku, SaleState from, Operator operator) {
    long skuId = PathIds.sku(sku);
    return audit.audited(
        operator,
        action,
        "sku=" + skuId,
        () -> opening.open(skuId, from),
        row -> "state=" + row.state());
  }

  /** The state that a sale shall have. */
  record StateRequest(@Nullable String state) {}

  /**
   * MySQL's half of a change of state: of a stop, which the gateway has written to Redis before,
   * and of an opening by a gateway of the previous release, which writes it to Redis itself.
   */
  @PostMapping("/state")
  ProductRow state(@PathVariable String sku, Operator operator, @JsonBody StateRequest body) {
    long skuId = PathIds.sku(sku);
    SaleState target = RequestChecks.oneOf("state", body.state(), SaleState.REQUESTABLE);
    return audit.audited(
        operator,
        "state",
        "sku=" + skuId,
        () -> target == SaleState.OPEN ? catalogue.open(skuId) : catalogue.stop(skuId, target),
        row -> "state=" + target);
  }
}
