package io.seckill.consumer.intake;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.OrderTrail;
import io.seckill.consumer.deadletter.DeadLetter;
import io.seckill.consumer.deadletter.DeadLetterPublisher;
import io.seckill.consumer.intake.DeadLetterPolicy.Attempts;
import io.seckill.consumer.orders.Compensations;
import io.seckill.consumer.orders.OrderResult;
import io.seckill.consumer.orders.OrderResults;
import io.seckill.consumer.runtime.BrokerConnections;
import io.seckill.consumer.runtime.ConfirmingPublisher;
import io.seckill.consumer.storage.Barriers;
import io.seckill.consumer.storage.StoreOutcome;
import io.seckill.consumer.storage.StoreOutcome.Failed;
import io.seckill.consumer.storage.StoreOutcome.Rejected;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import io.seckill.consumer.storage.StoredBatch;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Component;

/**
 * Does the work after a COMMIT, in this order: publishes dead letters, writes the results to Redis
 * and returns units to it, and only then, when the broker has confirmed, acks the deliveries. A
 * crash anywhere in between leads to a redelivery, which repeats all of it. Thread-safe.
 */
@Component
record Settler(
    OrderResults results,
    Compensations compensations,
    DeadLetterPublisher deadLetters,
    DeadLetterPolicy policy,
    Barriers barriers) {

  /** Pause after the broker has not confirmed a dead letter; it may have an alarm. */
  private static final Duration DEAD_LETTER_PAUSE = Duration.ofSeconds(1);

  private static final Duration BARRIER_PAUSE = Duration.ofMillis(100);

  record StoredDeliveries(IntakeSession session, List<Delivery> deliveries, StoredBatch batch) {}

  /** A delivery that waits until the broker has confirmed its dead letter. */
  private record PendingDeadLetter(Delivery delivery, CompletableFuture<Boolean> confirm) {}

  /** A batch whose results are sent to broker and Redis, and whose acks wait for confirms. */
  record Announced(StoredDeliveries work, Plan plan, long deadlineNanos) {

    IntakeSession session() {
      return work.session();
    }

    /** Whether {@link Settler#finish} would return without waiting. */
    boolean isAnswered() {
      return plan.pending.stream().allMatch(pending -> pending.confirm().isDone());
    }
  }

  /** Sends the results of a batch to the broker and to Redis, without waiting for confirms. */
  Announced announce(StoredDeliveries work) {
    Plan plan = plan(work);
    if (OrderTrail.isOn()) {
      work.batch().outcomes().forEach(outcome -> OrderTrail.mark(outcome.order(), stage(outcome)));
    }
    // While compensations are pending, their sweep writes the results of those orders again.
    if (results.write(plan.results, work.batch().progress())) {
      compensations.deliver(work.batch().compensations());
    }
    return new Announced(
        work, plan, System.nanoTime() + BrokerConnections.CONFIRM_TIMEOUT.toNanos());
  }

  /**
   * Waits for the confirms and acks.
   *
   * @throws IOException or ShutdownSignalException when the session has ended meanwhile; the broker
   *     redelivers what is not settled by then
   */
  void finish(Announced batch) throws IOException, InterruptedException {
    List<Delivery> done = new ArrayList<>(batch.plan.done);
    for (PendingDeadLetter pending : batch.plan.pending) {
      if (ConfirmingPublisher.await(pending.confirm(), batch.deadlineNanos)) {
        forget(pending.delivery());
        done.add(pending.delivery());
      } else {
        batch.session().inbox().retryLater(pending.delivery(), DEAD_LETTER_PAUSE);
      }
    }
    batch.session().ack(done);
    for (Delivery barrier : batch.plan.barriers) {
      forward(barrier, batch);
    }
  }

  /**
   * Batches are finished in the order in which they were received, so only postponed deliveries may
   * still be unsettled before a barrier: a session gets what lies behind the deliveries of another
   * one only after these. When the session has ended, the broker redelivers both, the barrier last.
   */
  private void forward(Delivery barrier, Announced batch) throws IOException, InterruptedException {
    IntakeSession session = batch.session();
    if (!session.isOpen()) {
      return;
    }
    if (!session.inbox().hasPostponedBefore(barrier)
        && ConfirmingPublisher.await(
            barriers.forward(barrier.message().properties()), batch.deadlineNanos)) {
      session.ack(List.of(barrier));
    } else {
      session.inbox().retryLater(barrier, BARRIER_PAUSE);
    }
  }

  private void forget(Delivery delivery) {
    if (delivery.order() != null) {
      policy.forget(delivery.order());
    }
  }

  /** The work to be done for each delivery of a batch. */
  private static final class Plan {
    private final List<OrderResult> results = new ArrayList<>();
    private final List<Delivery> done = new ArrayList<>();
    private final List<PendingDeadLetter> pending = new ArrayList<>();
    private final List<Delivery> barriers = new ArrayList<>();
  }

  private Plan plan(StoredDeliveries work) {
    Plan plan = new Plan();
    IdentityHashMap<OrderMessage, Delivery> byOrder = new IdentityHashMap<>();
    for (Delivery delivery : work.deliveries()) {
      if (delivery.isBarrier()) {
        plan.barriers.add(delivery);
      } else if (delivery.order() == null) {
        giveUp(plan, delivery, policy.unreadable(delivery));
      } else {
        byOrder.put(delivery.order(), delivery);
      }
    }
    for (StoreOutcome outcome : work.batch().outcomes()) {
      Delivery delivery = byOrder.remove(outcome.order());
      if (delivery == null) {
        throw new IllegalStateException("an outcome without a delivery: " + outcome);
      }
      plan(plan, work.session(), delivery, outcome);
    }
    if (!byOrder.isEmpty()) {
      throw new IllegalStateException(byOrder.size() + " deliveries without an outcome");
    }
    return plan;
  }

  private void plan(Plan plan, IntakeSession session, Delivery delivery, StoreOutcome outcome) {
    if (outcome instanceof Failed failure) {
      Attempts counted = policy.count(failure.order());
      DeadLetter deadLetter = policy.failed(delivery, failure, counted);
      if (deadLetter == null) {
        session.inbox().retryLater(delivery, policy.pauseAfter(counted));
      } else {
        giveUp(plan, delivery, deadLetter);
      }
    } else if (outcome instanceof Unstorable verdict) {
      giveUp(plan, delivery, policy.unstorable(delivery, verdict));
    } else {
      policy.forget(outcome.order());
      plan.results.add(Objects.requireNonNull(outcome.result()));
      plan.done.add(delivery);
    }
  }

  private void giveUp(Plan plan, Delivery delivery, DeadLetter deadLetter) {
    plan.pending.add(new PendingDeadLetter(delivery, deadLetters.publish(deadLetter)));
    OrderMessage order = delivery.order();
    if (order != null) {
      plan.results.add(
          OrderResult.of(order.orderId(), order.skuId(), order.userId(), OrderStatus.DELAYED));
    }
  }

  private static String stage(StoreOutcome outcome) {
    if (outcome instanceof Rejected refused) {
      return "rejected " + refused.reason();
    } else if (outcome instanceof Unstorable verdict) {
      return "unstorable " + verdict.unfit();
    }
    return outcome.getClass().getSimpleName().toLowerCase(Locale.ROOT);
  }
}
