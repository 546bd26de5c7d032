package io.seckill.consumer.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.OrderId;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredOrderFixture;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class CancellationsIT {

  private static final TestConsumer consumer = TestConsumer.shared();

  private final UnifiedJedis redis = consumer.bean(UnifiedJedis.class);
  private final RedisCallGuard guard = consumer.bean(RedisCallGuard.class);
  private final MeterRegistry meters = new SimpleMeterRegistry();

  /** While they are pending, their sweep writes the results of those orders again. */
  @Test
  void unitsAreNotReturnedWhileRedisMayLackTheResultsOfTheirOrders() {
    long sku = 35_001;
    new Sales(consumer).open(sku, "LIMITED", 5, 100);
    OrderId first = new StoredOrderFixture(consumer).confirmed(sku, 7, 1);
    OrderId second = new StoredOrderFixture(consumer).confirmed(sku, 8, 1);

    assertThat(returnedByCancelling(first, 7, false)).isEmpty();
    assertThat(returnedByCancelling(second, 8, true)).containsExactly(second);
  }

  /**
   * @param written whether Redis confirms the result
   */
  private List<OrderId> returnedByCancelling(OrderId order, long user, boolean written) {
    List<OrderId> returned = new ArrayList<>();
    Compensations compensations =
        new Compensations(
            consumer.bean(CompensationTable.class),
            consumer.bean(JdbcOperations.class),
            redis,
            guard,
            meters) {
          @Override
          public boolean deliver(Collection<Compensation> pending) {
            pending.forEach(one -> returned.add(one.orderId()));
            return true;
          }
        };
    OrderResults results =
        new OrderResults(redis, guard, meters) {
          @Override
          public boolean write(Collection<OrderResult> orders, Collection<SkuProgress> progress) {
            return written;
          }
        };
    Cancellations cancellations =
        new Cancellations(
            consumer.sql(),
            consumer.bean(JdbcOperations.class),
            consumer.bean(TransactionOperations.class),
            consumer.bean(BegunPayments.class),
            compensations,
            results,
            meters);
    assertThat(cancellations.cancel(order, user)).isTrue();
    return returned;
  }
}
