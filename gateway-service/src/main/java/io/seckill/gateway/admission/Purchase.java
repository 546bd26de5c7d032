package io.seckill.gateway.admission;

import io.seckill.gateway.admission.Admission.Busy;
import io.seckill.gateway.admission.Admission.Cause;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.redis.PendingRequest;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A purchase attempt that waits for its outcome; answered once. */
final class Purchase extends PendingRequest {

  private static final Admission BUSY = new Busy();
  private static final Admission UNKNOWN = new Unknown(Cause.REDIS);

  private final PurchaseAttempt attempt;
  private final Consumer<Admission> answer;

  /**
   * @param answer called once, by any thread
   */
  Purchase(PurchaseAttempt attempt, Consumer<Admission> answer) {
    this.attempt = attempt;
    this.answer = answer;
  }

  private Purchase(Purchase earlier) {
    super(earlier.bornNanos());
    this.attempt = earlier.attempt;
    this.answer = earlier.answer;
  }

  /**
   * Returns the same purchase for another queue, with the time it has left; the current batch can
   * no longer answer it. Returns null when it was answered already.
   */
  @Nullable Purchase handOver() {
    return settle() ? new Purchase(this) : null;
  }

  PurchaseAttempt attempt() {
    return attempt;
  }

  void answer(Admission outcome) {
    if (settle()) {
      answer.accept(outcome);
    }
  }

  @Override
  public void fail(Failure failure) {
    answer(failure == Failure.NOT_SENT ? BUSY : UNKNOWN);
  }
}
