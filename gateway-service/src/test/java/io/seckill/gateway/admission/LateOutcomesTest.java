package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.catalogue.TestProducts;
import io.seckill.testing.Bounded;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class LateOutcomesTest {

  /** It may be a strong sale that Redis never has. */
  @Test
  void refusesNoSkuAsUnknownWithoutAnotherReadOfTheProducts() {
    CompletableFuture<Admission> decided = new CompletableFuture<>();
    AdmissionProperties settings =
        new AdmissionProperties(
            1, 1, 1, Duration.ofMillis(200), Durability.Store.REDIS, 0, Duration.ZERO);
    long unread = 7;

    new LateOutcomes(TestProducts.read(false), null, null, null, settings)
        .complete(
            new PurchaseAttempt(unread, 1, "key-0001", true, 1, null),
            unread,
            Refusal.UNKNOWN_SKU,
            decided);

    assertThat(Bounded.get(decided)).isEqualTo(Unknown.PRODUCTS);
  }
}
