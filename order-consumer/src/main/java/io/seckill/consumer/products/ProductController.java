package io.seckill.consumer.products;

import io.seckill.consumer.web.JsonBody;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Products on the internal port. */
@RestController
@RequestMapping("/internal/v1/skus/{sku}")
record ProductController(Products products, Catalogue catalogue, AuditLog audit) {

  @GetMapping
  ProductRow show(@PathVariable String sku) {
    return products.readWithShards(PathIds.sku(sku));
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
            () -> catalogue.upsert(skuId, rules, body.version()),
            done -> (done.created() ? "created stock=" : "edited stock=") + done.row().stock());
    return ResponseEntity.status(upserted.created() ? 201 : 200).body(upserted.row());
  }
}
