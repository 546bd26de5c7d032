package io.seckill.consumer.reconciliation;

import io.seckill.common.sale.SalePhase;
import io.seckill.consumer.products.ProductRows;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.contract.LostAdmissions;
import io.seckill.support.web.PathIds;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Receives reports of gateways about lost admissions, which MySQL cannot detect by itself. */
@RestController
@RequestMapping("/internal/v1/skus/{sku}/lost-admissions")
record LostAdmissionsController(JdbcClient jdbc) {

  private static final Logger log = LoggerFactory.getLogger(LostAdmissionsController.class);

  /**
   * Raises the sequence above any number that Redis can still assign: every order that it admits
   * without the lost ones takes at least one unit.
   */
  private static final String RAISE =
      "UPDATE products SET last_seq = "
          + ProductRows.RAISED_SEQ
          + " + GREATEST(initial_stock, 1)"
          + " WHERE sku_id = ? AND epoch = ? AND "
          + SalePhase.REDIS_DECIDES;

  /**
   * Redis had admitted orders up to this sequence number and has lost some of them. From now on it
   * is behind MySQL until the sale is rebuilt.
   */
  @PostMapping
  @ResponseStatus(HttpStatus.NO_CONTENT)
  void lost(@PathVariable String sku, @JsonBody LostAdmissions body) {
    long skuId = PathIds.product(sku);
    int raised = jdbc.sql(RAISE).params(body.seq(), skuId, body.epoch()).update();
    if (raised > 0) {
      log.error("sku {}: a gateway reports lost admissions, up to number {}", skuId, body.seq());
    }
  }
}
