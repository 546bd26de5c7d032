package io.seckill.gateway.admission;

import io.seckill.common.order.OrderStatus;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.admission.Admission.Queued;
import io.seckill.gateway.admission.Admission.Repeated;
import io.seckill.gateway.batching.PendingRequest;
import io.seckill.gateway.batching.RequestBatcher;
import io.seckill.gateway.fallback.Promises;
import java.util.concurrent.atomic.AtomicInteger;

/** Forbidden behaviour of admission; each method replaces the product's method of the same name. */
public final class MutantAdmissions {

  private static final int EVERY = 25;
  private static final AtomicInteger ASKED = new AtomicInteger();

  private MutantAdmissions() {}

  /** Answers one purchase in 25 with SOLD_OUT. */
  static void submit(RequestBatcher<Purchase> queue, PendingRequest request) {
    Purchase purchase = (Purchase) request;
    if (ASKED.incrementAndGet() % EVERY == 0) {
      purchase.answer(Refusal.SOLD_OUT);
    } else {
      queue.submit(purchase);
    }
  }

  /** Answers before the broker has confirmed anything. */
  static void answerConfirmed(BrokerConfirms confirms, Purchase purchase, Queued outcome) {
    purchase.answer(outcome);
  }

  /** The shard of the next user. */
  static long purchased(long sku, long userId, int count) {
    return Shards.purchased(sku, userId + 1, count);
  }

  /** Always promises. */
  static boolean mayConfirm(Promises promises, long skuId) {
    return promises.mayConfirm(skuId) || skuId > 0;
  }

  /** Answers a repeat of a queued order as if it were settled. */
  static OrderStatus status(Queued outcome) {
    return outcome instanceof Repeated ? OrderStatus.CONFIRMED : outcome.status();
  }
}
