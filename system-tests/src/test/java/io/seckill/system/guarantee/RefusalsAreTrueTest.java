package io.seckill.system.guarantee;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RefusalsAreTrueTest {

  private static final long SKU = 7;
  private static final long SENT_AT = 1_000_000;

  private final Purchases purchases = new Purchases();

  @Test
  void findsAnOrderThatWasThereWhenItsShopperWasRefused() {
    purchases.refused(SKU, 1, "key", SENT_AT);

    assertThatThrownBy(() -> judge(SENT_AT - 1))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("try that was refused");
  }

  @Test
  void holdsForAnEarlierTryThatWasAdmittedLater() {
    purchases.refused(SKU, 1, "key", SENT_AT);

    assertThatCode(() -> judge(SENT_AT)).doesNotThrowAnyException();
  }

  @Test
  void holdsForOrdersOfOtherPurchases() {
    purchases.refused(SKU, 1, "another key", SENT_AT);
    purchases.refused(SKU + 1, 1, "key", SENT_AT);

    assertThatCode(() -> judge(SENT_AT - 1)).doesNotThrowAnyException();
  }

  private void judge(long admittedAtMs) {
    StoredOrder order = new StoredOrder("42", 1, "key", 1, "CONFIRMED", admittedAtMs);
    SaleCounters counters = new SaleCounters(1, 1, 1, 0, 1, 1);
    new RefusalsAreTrue()
        .judge(
            new SaleAtRest(
                SKU,
                10,
                0,
                9,
                List.of(order),
                Set.of(),
                Map.of(),
                9,
                Map.of(),
                Set.of("42"),
                0,
                0,
                Map.of(),
                Set.of(),
                Map.of(),
                counters),
            purchases);
  }
}
