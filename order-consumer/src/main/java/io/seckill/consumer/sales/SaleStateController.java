package io.seckill.consumer.sales;

import io.seckill.common.sale.SaleState;
import io.seckill.consumer.loading.Preheat;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.contract.StateRequest;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Preheats and the states of sales on the internal port. */
@RestController
@RequestMapping("/internal/v1/skus/{sku}")
record SaleStateController(SaleTransitions transitions, Preheat preheat, AuditLog audit) {

  @PostMapping("/preheat")
  ProductRow preheat(@PathVariable String sku, Operator operator) {
    long skuId = PathIds.sku(sku);
    return audit.audited(
        operator,
        "preheat",
        "sku=" + skuId,
        () ->
            preheat.run(
                skuId,
                (id, orders) ->
                    audit.record(operator, "preheat", "sku=" + id, "ordersGivenUp=" + orders)),
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
        () -> transitions.open(skuId, from),
        row -> "state=" + row.state());
  }

  /**
   * MySQL's half of a change of state: of a stop, which the gateway has written to Redis before,
   * and of an opening by a gateway of the previous release, which writes it to Redis itself.
   */
  @PostMapping("/state")
  ProductRow state(@PathVariable String sku, Operator operator, @JsonBody StateRequest body) {
    long skuId = PathIds.sku(sku);
    SaleState target = SaleState.valueOf(body.state());
    return audit.audited(
        operator,
        "state",
        "sku=" + skuId,
        () ->
            target == SaleState.OPEN
                ? transitions.openInMySql(skuId)
                : transitions.stop(skuId, target),
        row -> "state=" + target);
  }
}
