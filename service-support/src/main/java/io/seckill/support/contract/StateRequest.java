package io.seckill.support.contract;

import io.seckill.common.sale.SaleState;
import io.seckill.support.web.RequestChecks;

/** The state that a sale shall have, one of {@link SaleState#REQUESTABLE}. */
public record StateRequest(String state) {

  public StateRequest {
    RequestChecks.oneOf("state", state, SaleState.REQUESTABLE);
  }
}
