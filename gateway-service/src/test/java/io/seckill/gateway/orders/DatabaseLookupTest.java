package io.seckill.gateway.orders;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.batching.RequestBatcherProperties;
import io.seckill.testing.Bounded;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class DatabaseLookupTest {

  private static final int STATEMENTS = 2;
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  @Test
  void answersInTimeAndStartsNoFurtherStatementWhileThoseItMayRunHang() {
    HangingOrders mysql = new HangingOrders();
    DatabaseLookup lookup =
        new DatabaseLookup(
            mysql,
            new RequestBatcherProperties(STATEMENTS, STATEMENTS, 1, 100, PATIENCE, PATIENCE),
            new SimpleMeterRegistry());
    try {
      List<CompletableFuture<LookupResult<StoredOrder>>> results = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        results.add(lookup.find(OrderId.of(1_790_000_000_000L, 5, 1, i)));
      }

      assertThat(results).allSatisfy(one -> assertThat(Bounded.get(one).known()).isFalse());
      assertThat(mysql.begun).hasValueLessThanOrEqualTo(STATEMENTS);
      mysql.answer.countDown();
      assertThat(
              lookup
                  .find(OrderId.of(1_790_000_000_001L, 5, 1, 1))
                  .orTimeout(60, TimeUnit.SECONDS)
                  .join())
          .isEqualTo(LookupResult.of(null));
    } finally {
      mysql.answer.countDown();
      lookup.destroy();
    }
  }

  @Test
  void looksAFoundOrderUpAgainAlsoWhileItIsPolled() {
    OrderId id = OrderId.of(1_790_000_000_000L, 5, 1, 0);
    Instant then = Instant.EPOCH;
    StoredOrder order =
        new StoredOrder(id, 7, 1_001, 1, OrderStatus.DELAYED, null, then, then, then);
    AtomicInteger statements = new AtomicInteger();
    StoredOrders mysql =
        new StoredOrders(null) {
          @Override
          Map<OrderId, StoredOrder> find(Collection<OrderId> ids) {
            statements.incrementAndGet();
            return Map.of(id, order);
          }
        };
    DatabaseLookup lookup =
        new DatabaseLookup(
            mysql,
            new RequestBatcherProperties(STATEMENTS, STATEMENTS, 1, 100, PATIENCE, PATIENCE),
            new SimpleMeterRegistry());
    try {
      eventually()
          .until(
              () -> {
                assertThat(Bounded.get(lookup.findOrLookAgain(id)).known()).isTrue();
                return statements.get() > 1;
              });
    } finally {
      lookup.destroy();
    }
  }

  private static final class HangingOrders extends StoredOrders {

    private final AtomicInteger begun = new AtomicInteger();
    private final CountDownLatch answer = new CountDownLatch(1);

    HangingOrders() {
      super(null);
    }

    @Override
    Map<OrderId, StoredOrder> find(Collection<OrderId> ids) {
      begun.incrementAndGet();
      Bounded.await(answer);
      return Map.of();
    }
  }
}
