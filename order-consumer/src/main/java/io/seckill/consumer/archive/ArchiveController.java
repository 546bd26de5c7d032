package io.seckill.consumer.archive;

import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** The archive of a sale on the internal port. */
@RestController
record ArchiveController(SaleArchiver archiver, AuditLog audit) {

  @PostMapping("/internal/v1/skus/{sku}/archive")
  SaleArchive archive(@PathVariable String sku, Operator operator) {
    long skuId = PathIds.sku(sku);
    return audit.audited(
        operator,
        "archive",
        "sku=" + skuId,
        () -> archiver.begin(skuId, operator.name()),
        archive -> "phase=" + archive.phase() + " orders=" + archive.orders());
  }
}
