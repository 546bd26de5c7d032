package io.seckill.gateway.orders;

import io.seckill.common.order.OrderId;
import java.util.function.BiConsumer;

/** Forbidden results of payments; each method replaces the product's method of the same name. */
public final class MutantPaymentResults {

  private MutantPaymentResults() {}

  /** Takes every order for the one that is paid for. */
  static boolean equals(OrderId answered, Object asked) {
    return answered.value() > 0;
  }

  /** Drops the result. */
  public static void accept(BiConsumer<Object, Object> answer, Object request, Object outcome) {
    if (request == null) {
      answer.accept(request, outcome);
    }
  }
}
