package io.seckill.gateway.admission;

import io.seckill.gateway.backends.RequestBatcher;
import java.util.concurrent.atomic.AtomicInteger;

/** Refuses some purchases without a reason; a mutation calls it in front of the queue to Redis. */
public final class MutantAdmissions {

  private static final int EVERY = 25;
  private static final AtomicInteger ASKED = new AtomicInteger();

  private MutantAdmissions() {}

  /** Answers one purchase in 25 with SOLD_OUT. */
  static void enqueue(RequestBatcher<Purchase> queue, Purchase purchase) {
    if (ASKED.incrementAndGet() % EVERY == 0) {
      purchase.answer(Refusal.SOLD_OUT);
    } else {
      Admissions.enqueue(queue, purchase);
    }
  }
}
