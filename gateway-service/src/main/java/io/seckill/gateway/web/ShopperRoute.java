package io.seckill.gateway.web;

import java.util.concurrent.CompletionStage;

/** A {@link DirectRoute} that decides only for shoppers whom its {@link ShopperCheck} admits. */
public interface ShopperRoute extends DirectRoute {

  ShopperCheck shoppers();

  /** As {@link DirectRoute#answer}, to this shopper. */
  CompletionStage<HttpAnswer> answer(long userId, RequestHead head, byte[] body);

  @Override
  default CompletionStage<HttpAnswer> answer(RequestHead head, byte[] body) {
    return shoppers().answer(this, head, body);
  }
}
