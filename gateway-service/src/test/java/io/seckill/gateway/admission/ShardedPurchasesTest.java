package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleState;
import io.seckill.support.contract.ProductRow;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShardedPurchasesTest {

  /** No units move during a fallback, and yet a no is true. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "SOLD_OUT, 1, 0, SOLD_OUT",
        "SOLD_OUT, 1, 1, BUSY",
        "SOLD_OUT, 3, 2, TOO_FEW_LEFT",
        "SOLD_OUT, 3, 3, BUSY",
        "SOLD_OUT, 1, -, BUSY",
        "TOO_FEW_LEFT, 3, 2, TOO_FEW_LEFT",
        "TOO_FEW_LEFT, 3, 4, BUSY",
        "QUOTA_EXCEEDED, 1, 9, QUOTA_EXCEEDED",
        "QUOTA_EXCEEDED, 1, 0, SOLD_OUT",
        "QUOTA_EXCEEDED, 1, -, QUOTA_EXCEEDED",
        "PAUSED, 1, 9, PAUSED",
      })
  void aShardInMySqlRefusesOnlyWhatNoShardHas(
      Refusal ofShard, int quantity, @Nullable Long stockOfAll, String outcome) {
    ProductRow sku = stockOfAll == null ? null : sku(stockOfAll);

    assertThat(ShardedPurchases.inMySql(ofShard, quantity, sku))
        .isEqualTo(outcome.equals("BUSY") ? Admission.Busy.BRIEFLY : Refusal.valueOf(outcome));
  }

  private static ProductRow sku(long stock) {
    Instant now = Instant.now();
    return new ProductRow(
        1_001,
        "thing",
        1,
        stock,
        100,
        PurchasePolicy.LIMITED,
        5,
        Decider.MYSQL,
        "ACTIVE",
        now,
        now.plusSeconds(60),
        SaleState.OPEN,
        1,
        1,
        0,
        0,
        4);
  }
}
