package io.seckill.gateway.orders;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.gateway.batching.RequestBatcherProperties;
import io.seckill.testing.Bounded;
import io.seckill.testing.LoggedLines;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.dao.QueryTimeoutException;

class DatabaseLookupTest {

  private static final int STATEMENTS = 2;
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  @Test
  void answersInTimeAndStartsNoFurtherStatementWhileThoseItMayRunHang() {
    HangingOrders mysql = new HangingOrders();
    DatabaseLookup lookup = lookupIn(mysql);
    try {
      List<CompletableFuture<LookupResult<StoredOrder>>> results = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        results.add(lookup.find(OrderId.of(1_790_000_000_000L, 5, 1, i)));
      }

      assertThat(results).allSatisfy(one -> assertThat(Bounded.get(one).known()).isFalse());
      assertThat(mysql.begun).hasValueLessThanOrEqualTo(STATEMENTS);
      mysql.answer.countDown();
      OrderId id = OrderId.of(1_790_000_000_001L, 5, 1, 1);
      eventually().until(() -> Bounded.get(lookup.find(id)).equals(LookupResult.of(null)));
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
    DatabaseLookup lookup = lookupIn(mysql, Duration.ofMinutes(1));
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

  @Test
  void logsStatementsThatFailAlikeOnce() {
    StoredOrders away =
        new StoredOrders(null) {
          @Override
          Map<OrderId, StoredOrder> find(Collection<OrderId> ids) {
            throw new QueryTimeoutException("MySQL does not answer");
          }
        };
    DatabaseLookup lookup = lookupIn(away);
    LoggedLines lines = LoggedLines.of(DatabaseLookup.class);
    try (lines) {
      for (int i = 0; i < 3; i++) {
        OrderId id = OrderId.of(1_790_000_000_000L, 5, 1, i);
        assertThat(Bounded.get(lookup.find(id)).known()).isFalse();
      }
    } finally {
      lookup.destroy();
    }

    assertThat(lines.events()).hasSize(1);
  }

  private static DatabaseLookup lookupIn(StoredOrders mysql) {
    return lookupIn(mysql, PATIENCE);
  }

  private static DatabaseLookup lookupIn(StoredOrders mysql, Duration patience) {
    return new DatabaseLookup(
        mysql,
        new RequestBatcherProperties(STATEMENTS, STATEMENTS, 1, 100, patience, patience),
        new SimpleMeterRegistry());
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
