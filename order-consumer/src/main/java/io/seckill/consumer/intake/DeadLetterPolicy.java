package io.seckill.consumer.intake;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.UnreadableMessageException;
import io.seckill.common.order.UnsupportedVersionException;
import io.seckill.consumer.deadletter.DeadLetter;
import io.seckill.consumer.deadletter.DeadLetterHeaders;
import io.seckill.consumer.deadletter.DeadLetterReason;
import io.seckill.consumer.storage.StoreOutcome.Failed;
import io.seckill.consumer.storage.StoreOutcome.Unstorable;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Decides when a message becomes a dead letter, and with which content. Counts itself how often an
 * order was refused: broker versions count deliveries differently (facts.md 23), and lose the count
 * when a consumer disconnects. Thread-safe.
 */
@Component
class DeadLetterPolicy {

  /** Before the second attempt; with the default of five attempts, an order is tried for 3 s. */
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);

  /** With the most attempts, the pauses take less than half of RabbitMQ's delivery time-out. */
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(4);

  /** More than all intakes hold: an order that is evicted from the counts starts at 0 again. */
  private static final int MOST_COUNTED = 20_000;

  private final Map<OrderId, Attempts> failed =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<OrderId, Attempts> eldest) {
          return size() > MOST_COUNTED;
        }
      };
  private final IntakeProperties settings;
  private final Clock clock;

  DeadLetterPolicy(IntakeProperties settings, Clock clock) {
    this.settings = settings;
    this.clock = clock;
  }

  /**
   * @param count failed attempts since the order was first received or replayed, from 1
   * @param firstAt Unix ms
   * @param lastAt Unix ms
   */
  record Attempts(int count, long firstAt, long lastAt) {}

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
    DeadLetterReason reason = DeadLetterReason.valueOf(verdict.unfit().name());
    return deadLetter(delivery, reason, verdict.detail(), atOnce());
  }

  /** Null while the order may be tried again. */
  @Nullable DeadLetter failed(Delivery delivery, Failed failure, Attempts counted) {
    return counted.count() < settings.maxAttempts()
        ? null
        : deadLetter(delivery, DeadLetterReason.FAILED_TOO_OFTEN, failure.detail(), counted);
  }

  /** Counts one more failed attempt. */
  synchronized Attempts count(OrderMessage order) {
    return failed.merge(
        order.orderId(),
        atOnce(),
        (before, one) -> new Attempts(before.count() + 1, before.firstAt(), one.lastAt()));
  }

  /** Forgets an order that is decided or a dead letter. */
  synchronized void forget(OrderMessage order) {
    if (!failed.isEmpty()) {
      failed.remove(order.orderId());
    }
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
    Map<String, Object> headers = delivery.message().properties().getHeaders();
    long before = DeadLetterHeaders.number(headers, DeadLetterHeaders.ATTEMPTS, 0);
    long firstAt =
        DeadLetterHeaders.number(headers, DeadLetterHeaders.FIRST_FAILED_AT, counted.firstAt());
    return new DeadLetter(
        delivery.body(),
        delivery.order(),
        delivery.message().routingKey(),
        reason,
        detail,
        (int) Math.min(1_000_000, Math.max(0, before) + counted.count()),
        firstAt,
        counted.lastAt());
  }
}
