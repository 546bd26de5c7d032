package io.seckill.consumer.storage;

import static io.seckill.common.order.PurchasePolicy.LIMITED;
import static io.seckill.common.order.PurchasePolicy.ONE_PER_USER;
import static io.seckill.common.order.PurchasePolicy.UNLIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.SaleState;
import io.seckill.consumer.storage.OrderTable.Request;
import io.seckill.consumer.storage.OrderTable.RequestKey;
import io.seckill.consumer.storage.StrongDecision.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The order of the checks is that of {@code admit.lua}. */
class StrongBatchTest {

  private static final long SKU = 22_001;
  private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");
  private static final OrderId STORED = new OrderId(7L << 40);

  private final Map<RequestKey, Request> requests = new HashMap<>();
  private final Map<Long, Integer> owned = new HashMap<>();

  @ParameterizedTest
  @CsvSource({
    "PREHEATED, -1, 1, NOT_OPEN",
    "PAUSED,    -1, 1, PAUSED",
    "CLOSED,    -1, 1, CLOSED",
    "OPEN,       1, 2, NOT_OPEN", // its opening time has not come
    "OPEN,      -2, -1, CLOSED", // its closing time has passed
    "PAUSED,    -2, 0, CLOSED", // now
    "OPEN,       0, 1, CONFIRMED"
  })
  void sellsWhileTheSaleIsOpen(SaleState state, int opens, int closes, Outcome expected) {
    StrongSale sale = sale(LIMITED, 3, 100, 0, state, opens, closes);

    assertThat(outcomes(sale, buy(7, "request-1", 1))).containsExactly(expected);
  }

  @Test
  void laterPurchasesSeeWhatEarlierOnesTake() {
    StrongBatch batch =
        decide(
            sale(LIMITED, 3, 5, 0),
            buy(1, "request-1", 2),
            buy(1, "request-2", 2), // of 3
            buy(2, "request-1", 3),
            buy(3, "request-1", 1),
            buy(2, "request-1", 3),
            buy(2, "request-1", 2));

    assertThat(outcomes(batch))
        .containsExactly(
            Outcome.CONFIRMED,
            Outcome.QUOTA_EXCEEDED,
            Outcome.CONFIRMED,
            Outcome.SOLD_OUT,
            Outcome.REPEATED,
            Outcome.IDEMPOTENCY_KEY_REUSED);
    assertThat(batch.units()).isEqualTo(5);
    assertThat(batch.admitted()).extracting(OrderMessage::seq).containsExactly(11L, 12L);
  }

  @Test
  void refusesMoreThanOneOrderMayHaveOrThanIsLeft() {
    StrongSale sale = sale(UNLIMITED, 0, 101, 0);

    assertThat(
            outcomes(
                sale, buy(1, "request-1", 101), buy(1, "request-2", 100), buy(1, "request-3", 2)))
        .containsExactly(Outcome.QUANTITY, Outcome.CONFIRMED, Outcome.TOO_FEW_LEFT);
  }

  @Test
  void oneUnitPerUser() {
    StrongSale sale = sale(ONE_PER_USER, 1, 10, 0);
    owned.put(9L, 1);

    assertThat(
            outcomes(
                sale,
                buy(1, "request-1", 2),
                buy(1, "request-2", 1),
                buy(1, "request-3", 1),
                buy(9, "request-1", 1)))
        .containsExactly(
            Outcome.QUOTA_EXCEEDED,
            Outcome.CONFIRMED,
            Outcome.QUOTA_EXCEEDED,
            Outcome.QUOTA_EXCEEDED);
  }

  @Test
  void isBusyWhereOnlyTheReserveCouldServe() {
    assertThat(outcomes(sale(LIMITED, 5, 5, 3), buy(1, "request-1", 2), buy(2, "request-1", 1)))
        .containsExactly(Outcome.CONFIRMED, Outcome.BUSY);
  }

  @ParameterizedTest
  @CsvSource({"2, REPEATED", "1, IDEMPOTENCY_KEY_REUSED"})
  void answersARepeatBeforeAnyRefusal(int quantity, Outcome expected) {
    requests.put(
        new RequestKey(7, SKU, "request-1"), new Request(STORED, 2, OrderStatus.CANCELLED));
    StrongBatch batch =
        decide(sale(LIMITED, 2, 0, 0, SaleState.CLOSED, -2, -1), buy(7, "request-1", quantity));

    assertThat(outcomes(batch)).containsExactly(expected);
    assertThat(batch.admitted()).isEmpty();
  }

  private StrongBatch decide(StrongSale sale, StrongPurchase... purchases) {
    List<OrderId> ids =
        IntStream.range(0, purchases.length)
            .mapToObj(i -> OrderId.of(OrderId.EPOCH_MS + 1, 1, OrderId.MYSQL_WORKER, i))
            .toList();
    return new StrongBatch(sale, requests, owned, ids).decide(Arrays.asList(purchases));
  }

  private List<Outcome> outcomes(StrongSale sale, StrongPurchase... purchases) {
    return outcomes(decide(sale, purchases));
  }

  private static List<Outcome> outcomes(StrongBatch batch) {
    return batch.decisions().stream().map(StrongDecision::outcome).toList();
  }

  private static StrongPurchase buy(long user, String key, int quantity) {
    return new StrongPurchase(SKU, user, key, quantity, null);
  }

  private static StrongSale sale(PurchasePolicy policy, int limit, long stock, long reserved) {
    return sale(policy, limit, stock, reserved, SaleState.OPEN, -1, 1);
  }

  /**
   * @param opens days from now
   * @param closes days from now
   */
  private static StrongSale sale(
      PurchasePolicy policy,
      int limit,
      long stock,
      long reserved,
      SaleState state,
      int opens,
      int closes) {
    return new StrongSale(
        SaleRules.of(SKU, 9_900, policy, limit),
        true,
        false,
        100,
        state,
        1,
        1,
        10,
        stock,
        reserved,
        NOW.plus(Duration.ofDays(opens)),
        NOW.plus(Duration.ofDays(closes)),
        NOW);
  }
}
