package io.seckill.gateway.orders;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.Bounded;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

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
  void endsTheStreamsOfAnOrderThatNoStoreHas() {
    OrderEvents events =
        new OrderEvents(new FindsNothing(), ONE_READ_AT_ONCE, new SimpleMeterRegistry());
    try {
      OrderView last =
          events.watch(order(OrderStatus.QUEUED), ID, USER).blockLast(Duration.ofSeconds(30));

      assertThat(last).isEqualTo(order(OrderStatus.QUEUED));
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
      eventually().during(Duration.ofMillis(600)).until(() -> statuses.reads.get() == 2);
    } finally {
      events.stop();
    }
  }

  @Test
  void boundsTheStreamsOfAShopperAndOfAll() {
    OrderEvents events =
        new OrderEvents(new NeverAnswers(), new OrderProperties(8, 7), new SimpleMeterRegistry());
    try {
      List<Disposable> open = new ArrayList<>();
      for (int i = 0; i < OrderEvents.MAX_STREAMS_PER_USER; i++) {
        open.add(events.watch(order(OrderStatus.QUEUED), ID, USER).subscribe());
      }
      assertThat(refusal(events, USER)).isEqualTo(ProblemCode.TOO_MANY_REQUESTS);

      open.add(events.watch(order(OrderStatus.QUEUED), ID, 8).subscribe());
      open.add(events.watch(order(OrderStatus.QUEUED), ID, 8).subscribe());
      assertThat(refusal(events, 8)).isEqualTo(ProblemCode.BUSY);
      assertThat(events.watch(order(OrderStatus.PAID), ID, 8).blockLast())
          .as("needs no stream")
          .isEqualTo(order(OrderStatus.PAID));

      open.get(0).dispose();
      assertThat(refusal(events, USER)).isNull();
    } finally {
      events.stop();
    }
  }

  @Test
  void readsNoOrderThatNobodyWatchesAnyMore() {
    OrderId other = OrderId.of(ID.timeMs(), 5, 1, 2);
    StaysAsItIs statuses = new StaysAsItIs(Map.of());
    OrderEvents events =
        new OrderEvents(statuses, new OrderProperties(8, 2), new SimpleMeterRegistry());
    try {
      Disposable left = events.watch(order(OrderStatus.QUEUED), ID, USER).subscribe();
      eventually().until(() -> statuses.reads(ID) > 0);
      left.dispose();
      events.watch(order(OrderStatus.QUEUED), other, USER).subscribe();
      eventually().until(() -> statuses.reads(other) > 1);
      int before = statuses.reads(ID);

      int after = statuses.reads(other) + 2;
      eventually().until(() -> statuses.reads(other) >= after);
      assertThat(statuses.reads(ID)).isEqualTo(before);
    } finally {
      events.stop();
    }
  }

  /** Most stay as they are until the end of the payment time. */
  @Test
  void readsOrdersWithAResultInEveryEighthPeriod() {
    OrderId delayed = OrderId.of(ID.timeMs(), 5, 1, 2);
    OrderId confirmed = OrderId.of(ID.timeMs(), 5, 1, 3);
    StaysAsItIs statuses =
        new StaysAsItIs(Map.of(delayed, OrderStatus.DELAYED, confirmed, OrderStatus.CONFIRMED));
    OrderEvents events =
        new OrderEvents(statuses, new OrderProperties(8, 3), new SimpleMeterRegistry());
    try {
      events.watch(order(OrderStatus.QUEUED), ID, USER).subscribe();
      events.watch(order(OrderStatus.QUEUED), delayed, USER).subscribe();
      events.watch(order(OrderStatus.CONFIRMED), confirmed, USER).subscribe();

      eventually().until(() -> statuses.reads(delayed) >= 3 && statuses.reads(confirmed) >= 2);

      assertThat(statuses.reads(ID)).as("in every period").isGreaterThanOrEqualTo(15);
    } finally {
      events.stop();
    }
  }

  @Test
  void endsItsStreamsWhenTheGatewayStops() {
    OrderEvents events =
        new OrderEvents(new NeverAnswers(), new OrderProperties(8, 1), new SimpleMeterRegistry());
    CompletableFuture<List<OrderView>> stream =
        events.watch(order(OrderStatus.QUEUED), ID, USER).collectList().toFuture();

    events.stop();

    assertThat(Bounded.get(stream)).containsExactly(order(OrderStatus.QUEUED));
  }

  /** Of one more stream, which is left at once; null when it is opened. */
  private static @Nullable ProblemCode refusal(OrderEvents events, long user) {
    AtomicReference<ProblemCode> refusal = new AtomicReference<>();
    events
        .watch(order(OrderStatus.QUEUED), ID, user)
        .subscribe(
            order -> {}, failure -> refusal.set(((ProblemException) failure).problem().code()))
        .dispose();
    return refusal.get();
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

  /** Orders that are not named are queued. */
  private static final class StaysAsItIs extends OrderStatuses {

    private final Map<OrderId, OrderStatus> named;
    private final Map<OrderId, Integer> reads = new ConcurrentHashMap<>();

    StaysAsItIs(Map<OrderId, OrderStatus> named) {
      super(null, null, null, null, null);
      this.named = named;
    }

    private int reads(OrderId id) {
      return reads.getOrDefault(id, 0);
    }

    @Override
    CompletableFuture<Status> of(OrderId id, long userId) {
      reads.merge(id, 1, Integer::sum);
      return CompletableFuture.completedFuture(
          new Status.Known(order(named.getOrDefault(id, OrderStatus.QUEUED))));
    }
  }

  private static final class FindsNothing extends OrderStatuses {

    FindsNothing() {
      super(null, null, null, null, null);
    }

    @Override
    CompletableFuture<Status> of(OrderId id, long userId) {
      return CompletableFuture.completedFuture(Status.None.NOT_FOUND);
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
