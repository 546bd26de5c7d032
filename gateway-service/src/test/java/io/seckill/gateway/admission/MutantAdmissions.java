package io.seckill.gateway.admission;

import io.seckill.gateway.redis.RequestBatcher;
import java.util.concurrent.atomic.AtomicInteger;

/** Refuses shoppers for no reason; a mutation has it asked in place of Redis. */
public final class MutantAdmissions {

  private static final int EVERY = 25;
  private static final Admission SOLD_OUT = new Admission.Refused(Refusal.SOLD_OUT);
  private static final AtomicInteger ASKED = new AtomicInteger();

  private MutantAdmissions() {}

  /** Tells one purchase in 25 that the SKU is sold out. */
  static void enqueue(RequestBatcher<Purchase> queue, Purchase purchase) {
    if (ASKED.incrementAndGet() % EVERY == 0) {
      purchase.answer(SOLD_OUT);
    } else {
      Admissions.enqueue(queue, purchase);
    }
  }
}
