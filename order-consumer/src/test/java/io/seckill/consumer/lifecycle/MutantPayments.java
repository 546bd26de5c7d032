package io.seckill.consumer.lifecycle;

/** Takes too much; a mutation asks it for what to charge. */
public final class MutantPayments {

  private MutantPayments() {}

  /** Twice what the order costs. */
  static long amountCents(OrderRow order) {
    return 2 * order.amountCents();
  }
}
