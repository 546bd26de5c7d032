package io.seckill.gateway.admission;

import io.seckill.gateway.admission.Admission.Busy;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.batching.PendingRequest;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** A purchase attempt that waits for its outcome; answered once. */
final class Purchase extends PendingRequest {

  /** An answer that depends on when Redis was queried. */
  interface TimedAnswer extends Consumer<Admission> {

    /** Called before each outcome of Redis, with System.nanoTime() before its call. */
    void asked(long nanos);
  }

  private final PurchaseAttempt attempt;
  private final Consumer<Admission> answer;
  private final AtomicBoolean answered = new AtomicBoolean();
  private volatile Unknown missing = Unknown.REDIS;

  /** Calls {@code answer} once, on any thread. */
  Purchase(PurchaseAttempt attempt, Consumer<Admission> answer) {
    this.attempt = attempt;
    this.answer = answer;
  }

  PurchaseAttempt attempt() {
    return attempt;
  }

  @Override
  protected int partition() {
    return attempt.partition();
  }

  /** The outcome that follows is of a call of Redis that began at this System.nanoTime(). */
  void asked(long nanos) {
    if (answer instanceof TimedAnswer timed) {
      timed.asked(nanos);
    }
  }

  void answer(Admission outcome) {
    if (answered.compareAndSet(false, true)) {
      answer.accept(outcome);
    }
  }

  /** Names whose answer is missing if none comes in time; Redis's unless this is called. */
  void waitsFor(Unknown next) {
    missing = next;
  }

  @Override
  public void fail(Failure failure) {
    answer(failure == Failure.NOT_SENT ? Busy.BRIEFLY : missing);
  }
}
