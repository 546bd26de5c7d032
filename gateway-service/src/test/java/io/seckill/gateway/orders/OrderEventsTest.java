package io.seckill.gateway.orders;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OrderEventsTest {

  private static final long USER = 7;
  private static final OrderId ID = OrderId.of(1_790_000_000_000L, 5, 1, 1);

  /** With room for four reads in a queue, one read at a time is allowed. */
  private static final OrderProperties ONE_READ_AT_ONCE = new OrderProperties(4, 1);

  @Test
  void readsOnAfterReadsThatFailed() {
    OrderEvents events =
        new OrderEvents(new FailsTwice(), ONE_READ_AT_ONCE, new SimpleMeterRegistry());
    try {
      OrderView last =
          events.watch(order(OrderStatus.QUEUED), ID, USER).blockLast(Duration.ofSeconds(30));

      assertThat(last).isEqualTo(order(OrderStatus.PAID));
    } finally {
      events.stop();
    }
  }

  @Test
  void leavesPollsTheirRoomInTheQueueOfReads() {
    NeverAnswers statuses = new NeverAnswers();
    OrderEvents events =
        new OrderEvents(statuses, new OrderProperties(8, 40), new SimpleMeterRegistry());
    try {
      for (int user = 1; user <= 40; user++) {
        OrderId id = OrderId.of(ID.timeMs(), 5, 1, user);
        events.watch(order(OrderStatus.QUEUED), id, user).subscribe();
      }

      eventually().until(() -> statuses.reads.get() == 2);
      await().during(Duration.ofMillis(600)).until(() -> statuses.reads.get() == 2);
    } finally {
      events.stop();
    }
  }

  private static OrderView order(OrderStatus status) {
    Instant time = Instant.ofEpochMilli(ID.timeMs());
    return new OrderView(ID, 5, 1, status, null, null, null, time, time, null);
  }

  private static final class NeverAnswers extends OrderStatuses {

    private final AtomicInteger reads = new AtomicInteger();

    NeverAnswers() {
      super(null, null, null, null, null);
    }

    @Override
    CompletableFuture<Status> of(OrderId id, long userId) {
      reads.incrementAndGet();
      return new CompletableFuture<>();
    }
  }

  private static final class FailsTwice extends OrderStatuses {

    private final AtomicInteger reads = new AtomicInteger();

    FailsTwice() {
      super(null, null, null, null, null);
    }

    @Override
    CompletableFuture<Status> of(OrderId id, long userId) {
      return switch (reads.incrementAndGet()) {
        case 1 -> throw new IllegalStateException("for the test");
        case 2 -> CompletableFuture.failedFuture(new IllegalStateException("for the test"));
        default -> CompletableFuture.completedFuture(new Status.Known(order(OrderStatus.PAID)));
      };
    }
  }
}
