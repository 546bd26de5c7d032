package io.seckill.consumer.payment;

import io.seckill.consumer.web.JsonBody;
import io.seckill.consumer.web.Reason;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.RequestChecks;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Unexplained charges on the internal port. */
@RestController
@RequestMapping("/internal/v1/unexplained-charges")
record UnexplainedChargeController(UnexplainedCharges charges, AuditLog audit) {

  private static final int DEFAULT_LIMIT = 50;
  private static final int MAX_LIMIT = 200;

  /** {@code next} is the value of {@code after} for the next page; null on the last page. */
  record Page(List<UnexplainedCharge> charges, @Nullable Long next) {}

  @GetMapping
  Page list(
      @RequestParam(required = false) @Nullable String state,
      @RequestParam(required = false) @Nullable String limit,
      @RequestParam(required = false) @Nullable String after) {
    int size = PathIds.limit(limit, DEFAULT_LIMIT, MAX_LIMIT);
    List<UnexplainedCharge> page =
        charges.page(
            state == null
                ? null
                : RequestChecks.oneOf("state", state, UnexplainedCharge.UnexplainedState.class),
            after == null ? 0 : PathIds.number("after", after),
            size);
    return new Page(page, page.size() == size ? page.get(size - 1).id() : null);
  }

  /** The reason says how the money was dealt with. */
  @PostMapping("/{id}/close")
  UnexplainedCharge close(@PathVariable String id, Operator operator, @JsonBody Reason body) {
    long row = PathIds.number("id", id);
    return audit.audited(
        operator,
        "close",
        "unexplainedCharge=" + row,
        () -> charges.close(row, body.reason(), operator),
        done -> "charge=" + done.chargeId() + " order=" + done.orderId());
  }
}
