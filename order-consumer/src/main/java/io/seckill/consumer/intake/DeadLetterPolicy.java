package io.seckill.consumer.intake;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.order.UnsupportedVersionException;
import io.seckill.consumer.deadletter.DeadLetter;
import io.seckill.consumer.deadletter.DeadLetterHeaders;
import io.seckill.consumer.deadletter.DeadLetterReason;
import io.seckill.consumer.intake.FailedAttempts.Attempts;
import io.seckill.consumer.storage.StoreOutcome.Failed;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import java.time.Clock;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Decides when a message becomes a dead letter, and with which content. Thread-safe. */
@Component
class DeadLetterPolicy {

  /** Before the second attempt; with the default of five attempts, an order is tried for 3 s. */
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);

  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

  private final FailedAttempts attempts;
  private final IntakeProperties settings;
  private final Clock clock;

  DeadLetterPolicy(FailedAttempts attempts, IntakeProperties settings, Clock clock) {
    this.attempts = attempts;
    this.settings = settings;
    this.clock = clock;
  }

  /** A message that this release can never read. */
  DeadLetter unreadable(Delivery delivery) {
    UnreadableMessageException why = delivery.unreadable();
    DeadLetterReason reason =
        why instanceof UnsupportedVersionException
            ? DeadLetterReason.UNSUPPORTED_VERSION
            : DeadLetterReason.UNREADABLE;
    return deadLetter(
        delivery, reason, why == null ? "" : String.valueOf(why.getMessage()), atOnce());
  }

  /** A message that can never be stored. */
  DeadLetter unstorable(Delivery delivery, Unstorable verdict) {
    DeadLetterReason reason =
        switch (verdict.unfit()) {
          case UNKNOWN_SKU -> DeadLetterReason.UNKNOWN_SKU;
          case OTHER_POLICY -> DeadLetterReason.OTHER_POLICY;
          case OTHER_CONTENT -> DeadLetterReason.OTHER_CONTENT;
        };
    return deadLetter(delivery, reason, verdict.detail(), atOnce());
  }

  /** Null while the order may be tried again. */
  @Nullable DeadLetter failed(Delivery delivery, Failed failure, Attempts counted) {
    return counted.count() < settings.maxAttempts()
        ? null
        : deadLetter(delivery, DeadLetterReason.FAILED_TOO_OFTEN, failure.detail(), counted);
  }

  Attempts count(OrderMessage order) {
    return attempts.add(order.orderId());
  }

  void forget(OrderMessage order) {
    attempts.forget(order.orderId());
  }

  /** Doubles with each attempt. */
  Duration pauseAfter(Attempts counted) {
    long pauseMs = FIRST_PAUSE.toMillis() << Math.min(counted.count() - 1, 10);
    return Duration.ofMillis(Math.min(pauseMs, LONGEST_PAUSE.toMillis()));
  }

  private Attempts atOnce() {
    long now = clock.millis();
    return new Attempts(1, now, now);
  }

  /** Adds the attempts before a replay, which a replayed order has in its headers. */
  private static DeadLetter deadLetter(
      Delivery delivery, DeadLetterReason reason, String detail, Attempts counted) {
    long before = delivery.header(DeadLetterHeaders.ATTEMPTS, 0);
    long firstAt = delivery.header(DeadLetterHeaders.FIRST_FAILED_AT, counted.firstAt());
    return new DeadLetter(
        delivery.body(),
        delivery.order(),
        delivery.routingKey(),
        reason,
        detail,
        (int) Math.min(1_000_000, Math.max(0, before) + counted.count()),
        firstAt,
        counted.lastAt());
  }
}
