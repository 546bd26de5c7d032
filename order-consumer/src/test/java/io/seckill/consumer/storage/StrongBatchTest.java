package io.seckill.consumer.storage;

import static io.seckill.common.order.PurchasePolicy.LIMITED;
import static io.seckill.common.order.PurchasePolicy.ONE_PER_USER;
import static io.seckill.common.order.PurchasePolicy.UNLIMITED;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.storage.OrderTable.Request;
import io.seckill.consumer.storage.OrderTable.RequestKey;
import io.seckill.support.contract.StrongDecision;
import io.seckill.support.contract.StrongDecision.Outcome;
import io.seckill.support.contract.StrongPurchases.StrongPurchase;
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

  /** While an order that Redis has admitted may be unknown, its repeat is not refused. */
  @ParameterizedTest
  @CsvSource({
    // state, opens and closes in days, quantity, owned, stock, without and with one unit reserved
    "OPEN,      -1, 1, 2, 0, 10, CONFIRMED,      CONFIRMED",
    "OPEN,       0, 1, 2, 0, 10, CONFIRMED,      CONFIRMED",
    "PAUSED,    -1, 1, 2, 0, 10, PAUSED,         BUSY",
    "CLOSED,    -1, 1, 2, 0, 10, CLOSED,         BUSY",
    "OPEN,      -2, 0, 2, 0, 10, CLOSED,         BUSY",
    "PAUSED,    -2, 0, 2, 0, 10, CLOSED,         BUSY",
    "PREHEATED, -1, 1, 2, 0, 10, NOT_OPEN,       BUSY",
    "OPEN,       1, 2, 2, 0, 10, NOT_OPEN,       BUSY",
    "OPEN,      -1, 1, 4, 0, 10, QUANTITY,       BUSY", // bound lowered meanwhile
    // An order that arrives is refused for the same reason.
    "OPEN,      -1, 1, 2, 4, 10, QUOTA_EXCEEDED, QUOTA_EXCEEDED",
    "OPEN,      -1, 1, 2, 0,  1, TOO_FEW_LEFT,   TOO_FEW_LEFT",
    "OPEN,      -1, 1, 2, 0,  2, CONFIRMED,      BUSY",
  })
  void refusesOnlyWhatWouldBeRefusedAlsoAsAnOrder(
      SaleState state,
      int opens,
      int closes,
      int quantity,
      int bought,
      long stock,
      Outcome unreserved,
      Outcome reserved) {
    StrongSale free = sale(LIMITED, 5, 3, stock, 0, state, opens, closes);
    StrongSale partlyReserved = sale(LIMITED, 5, 3, stock, 1, state, opens, closes);
    owned.putAll(Map.of(7L, bought, 8L, bought));

    assertThat(outcomes(free, buy(7, "request-01", quantity))).containsExactly(unreserved);
    assertThat(outcomes(partlyReserved, buy(8, "request-01", quantity))).containsExactly(reserved);
  }

  @Test
  void laterPurchasesSeeWhatEarlierOnesTake() {
    StrongBatch batch =
        decide(
            sale(LIMITED, 3, 5),
            buy(1, "request-01", 2),
            buy(1, "request-02", 2), // of 3
            buy(2, "request-01", 3),
            buy(3, "request-01", 1),
            buy(2, "request-01", 3),
            buy(2, "request-01", 2));

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
    StrongSale sale = sale(UNLIMITED, 0, 101);

    assertThat(
            outcomes(
                sale,
                buy(1, "request-01", 101),
                buy(1, "request-02", 100),
                buy(1, "request-03", 2)))
        .containsExactly(Outcome.QUANTITY, Outcome.CONFIRMED, Outcome.TOO_FEW_LEFT);
  }

  @Test
  void oneUnitPerUser() {
    StrongSale sale = sale(ONE_PER_USER, 1, 10);
    owned.put(9L, 1);

    assertThat(
            outcomes(
                sale,
                buy(1, "request-01", 2),
                buy(1, "request-02", 1),
                buy(1, "request-03", 1),
                buy(9, "request-01", 1)))
        .containsExactly(
            Outcome.QUOTA_EXCEEDED,
            Outcome.CONFIRMED,
            Outcome.QUOTA_EXCEEDED,
            Outcome.QUOTA_EXCEEDED);
  }

  @ParameterizedTest
  @CsvSource({"2, REPEATED", "1, IDEMPOTENCY_KEY_REUSED"})
  void answersARepeatBeforeAnyRefusal(int quantity, Outcome expected) {
    requests.put(
        new RequestKey(7, SKU, "request-01"), new Request(STORED, 2, OrderStatus.CANCELLED));
    StrongBatch batch =
        decide(
            sale(LIMITED, 2, 100, 0, 0, SaleState.CLOSED, -2, -1), buy(7, "request-01", quantity));

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

  /** The gateway compares it with the other shards. */
  @ParameterizedTest
  @CsvSource({
    "5, 0, SOLD_OUT,       QUOTA_EXCEEDED",
    "0, 0, SOLD_OUT,       SOLD_OUT",
    "5, 1, QUOTA_EXCEEDED, QUOTA_EXCEEDED",
    "0, 1, TOO_FEW_LEFT,   TOO_FEW_LEFT"
  })
  void anEmptyShardRefusesAUserAtTheLimitForTheLimit(
      int bought, long stock, Outcome ofSku, Outcome ofShard) {
    owned.put(7L, bought);

    assertThat(outcomes(sale(LIMITED, 5, stock), buy(SKU, 7, "request-01", 2)))
        .containsExactly(ofSku);
    assertThat(outcomes(sale(LIMITED, 5, stock), buy(Shards.id(SKU, 1), 7, "request-01", 2)))
        .containsExactly(ofShard);
  }

  private static StrongPurchase buy(long user, String key, int quantity) {
    return buy(SKU, user, key, quantity);
  }

  private static StrongPurchase buy(long sku, long user, String key, int quantity) {
    return new StrongPurchase(sku, user, key, quantity, null);
  }

  private static StrongSale sale(PurchasePolicy policy, int limit, long stock) {
    return sale(policy, limit, 100, stock, 0, SaleState.OPEN, -1, 1);
  }

  /**
   * @param opens days from now
   * @param closes days from now
   */
  private static StrongSale sale(
      PurchasePolicy policy,
      int limit,
      int maxQuantity,
      long stock,
      long reserved,
      SaleState state,
      int opens,
      int closes) {
    return new StrongSale(
        SaleRules.of(SKU, 9_900, policy, limit),
        SalePhase.STRONG,
        maxQuantity,
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
