package io.seckill.consumer.sales;

import io.seckill.common.order.OrderMessage;
import io.seckill.consumer.products.Products;
import io.seckill.consumer.web.JsonBody;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemException;
import io.seckill.support.web.RequestChecks;
import io.seckill.support.web.SingleLine;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** Stock changes on the internal port. */
@RestController
record StockChangeController(StockChanges changes, Products products, AuditLog audit) {

  private static final String KEY = "Idempotency-Key";
  private static final int MAX_REASON = 200;

  /** How a change ended, and the units sellable in MySQL now. */
  record StockChangeAnswer(String changeId, long delta, ChangeState state, long stock) {}

  /**
   * @param delta units to add, or to withdraw when negative; never 0
   * @param reason on one line
   */
  record Request(long delta, String reason) {

    Request {
      RequestChecks.integer("delta", delta, -DatabaseStock.MAX_STOCK, DatabaseStock.MAX_STOCK);
      if (delta == 0) {
        throw ProblemException.invalid("delta", "delta must not be 0.");
      }
      reason = SingleLine.checked("reason", reason, MAX_REASON);
    }
  }

  @PostMapping("/internal/v1/skus/{sku}/stock")
  StockChangeAnswer change(
      @PathVariable String sku,
      @RequestHeader(name = KEY, required = false) @Nullable String key,
      Operator operator,
      @JsonBody Request body) {
    long skuId = PathIds.sku(sku);
    String changeId = changeId(key);
    return audit.audited(
        operator,
        "stock",
        "sku=" + skuId + " change=" + changeId + " delta=" + body.delta(),
        () -> outcome(changes.change(skuId, changeId, body.delta(), body.reason(), operator)),
        outcome -> "state=" + outcome.state() + " stock=" + outcome.stock());
  }

  private StockChangeAnswer outcome(StockChange change) {
    return new StockChangeAnswer(
        change.changeId(),
        change.delta(),
        change.state(),
        products.readWithShards(change.skuId()).stock());
  }

  private static String changeId(@Nullable String key) {
    if (key == null || !OrderMessage.REQUEST_ID.matcher(key).matches()) {
      throw ProblemException.invalid(KEY, KEY + " must be 8..64 characters of [A-Za-z0-9_-].");
    }
    return key;
  }
}
