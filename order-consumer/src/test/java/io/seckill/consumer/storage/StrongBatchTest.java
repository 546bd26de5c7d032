package io.seckill.consumer.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderId;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.SaleState;
import io.seckill.consumer.storage.StrongDecision.Outcome;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** While an order that Redis has admitted may be unknown, its repeat is not refused. */
class StrongBatchTest {

  private static final Instant NOW = Instant.parse("2026-11-11T10:00:00Z");
  private static final long USER = 7;
  private static final OrderId ID = OrderId.of(1_800_000_000_000L, 9, OrderId.MYSQL_WORKER, 1);

  @ParameterizedTest
  @CsvSource({
    // state, opens and closes in minutes, quantity, owned, stock, without and with one unit
    // reserved
    "OPEN,      -1, 1, 2, 0, 10, CONFIRMED,      CONFIRMED",
    "PAUSED,    -1, 1, 2, 0, 10, PAUSED,         BUSY",
    "CLOSED,    -1, 1, 2, 0, 10, CLOSED,         BUSY",
    "OPEN,      -2, 0, 2, 0, 10, CLOSED,         BUSY",
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
      long opens,
      long closes,
      int quantity,
      int owned,
      long stock,
      Outcome unreserved,
      Outcome reserved) {
    assertThat(decide(sale(state, opens, closes, stock, 0), quantity, owned)).isEqualTo(unreserved);
    assertThat(decide(sale(state, opens, closes, stock, 1), quantity, owned)).isEqualTo(reserved);
  }

  private static Outcome decide(StrongSale sale, int quantity, int owned) {
    StrongPurchase purchase =
        new StrongPurchase(sale.rules().skuId(), USER, "key-00000001", quantity, null);
    return new StrongBatch(sale, new HashMap<>(), new HashMap<>(Map.of(USER, owned)), List.of(ID))
        .decide(List.of(purchase))
        .decisions()
        .get(0)
        .outcome();
  }

  private static StrongSale sale(
      SaleState state, long opens, long closes, long stock, long reserved) {
    return new StrongSale(
        SaleRules.of(1_001, 100, PurchasePolicy.LIMITED, 5),
        true,
        true,
        3,
        state,
        1,
        2,
        0,
        stock,
        reserved,
        NOW.plus(Duration.ofMinutes(opens)),
        NOW.plus(Duration.ofMinutes(closes)),
        NOW);
  }
}
