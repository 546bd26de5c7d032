package io.seckill.gateway.admission;

import io.seckill.common.order.OrderId;
import java.util.ArrayList;
import java.util.List;

/**
 * The reply of {@code admit.lua} to one call.
 *
 * @param purchases in the order of the call; empty if another server was reached, which decides
 *     nothing
 * @param skus those that admitted something
 * @param confirmed whether enough replicas have received the writes that the reply reports
 */
record AdmitReply(List<ScriptReply> purchases, List<AdmittedSku> skus, boolean confirmed) {

  private static final AdmitReply OTHER_SERVER = new AdmitReply(List.of(), List.of(), false);

  /**
   * @param sent the order ids of the call
   */
  static AdmitReply parse(Object reply, boolean confirmed, List<OrderId> sent) {
    if (reply instanceof Long) {
      return OTHER_SERVER;
    }
    List<?> texts = (List<?>) reply;
    List<ScriptReply> purchases = new ArrayList<>(sent.size());
    for (int i = 0; i < sent.size(); i++) {
      purchases.add(ScriptReply.parse((String) texts.get(i), sent.get(i)));
    }
    List<AdmittedSku> skus =
        texts.subList(sent.size(), texts.size()).stream()
            .map(text -> AdmittedSku.parse((String) text))
            .toList();
    return new AdmitReply(purchases, skus, confirmed);
  }

  boolean isOfOtherServer() {
    return purchases.isEmpty();
  }
}
