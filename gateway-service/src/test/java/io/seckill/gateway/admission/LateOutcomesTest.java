package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.sale.Shards;
import io.seckill.gateway.admission.Admission.Unknown;
import io.seckill.gateway.catalogue.ProductCache;
import io.seckill.gateway.catalogue.TestProducts;
import io.seckill.testing.Bounded;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class LateOutcomesTest {

  /** It may be a strong sale that Redis never has. */
  @Test
  void refusesNoSkuAsUnknownWithoutAnotherReadOfTheProducts() {
    assertThat(Bounded.get(refusedAsUnknown(7, 7, TestProducts.read(false))))
        .isEqualTo(Unknown.PRODUCTS);
  }

  /** Its shards have dropped it an hour before {@code seckill.preheat.retention} has passed. */
  @Test
  void believesAShardThatHasForgottenTheSale() {
    ProductCache products = TestProducts.afterASaleInShards();
    products.start();
    try {
      long shard = Shards.id(1_001, 2);
      assertThat(Bounded.get(refusedAsUnknown(1_001, 1_001, products))).isEqualTo(Unknown.PRODUCTS);
      assertThat(Bounded.get(refusedAsUnknown(1_001, shard, products)))
          .isEqualTo(Refusal.UNKNOWN_SKU);
    } finally {
      products.stop();
    }
  }

  /** Anybody can ask for it again and again; operators wait for a read after each change. */
  @Test
  void aSkuWithShardsBeforeItsPreheatTakesNoPlaceOfAnOperator() {
    eventually() // none waits for longer than three seconds
        .untilAsserted(
            () -> {
              ProductCache products = TestProducts.beforeThePreheatOfShards();
              for (int i = 0; i < TestProducts.MOST_WAITING; i++) {
                var unused = refusedAsUnknown(1_001, 1_001, products);
              }
              CompletableFuture<Void> again = products.readAgain().toFuture();
              products.start();
              try {
                assertThat(again).succeedsWithin(SOON);
              } finally {
                products.stop();
              }
            });
  }

  /** The outcome of a purchase whose SKU Redis does not have. */
  private static CompletableFuture<Admission> refusedAsUnknown(
      long sku, long decidedBy, ProductCache products) {
    CompletableFuture<Admission> decided = new CompletableFuture<>();
    AdmissionProperties settings =
        new AdmissionProperties(
            1, 1, 1, Duration.ofMillis(200), Durability.Store.REDIS, 0, Duration.ZERO);
    new LateOutcomes(products, null, null, null, settings)
        .complete(
            new PurchaseAttempt(sku, 1, "key-0001", true, 1, null),
            decidedBy,
            Refusal.UNKNOWN_SKU,
            decided);
    return decided;
  }
}
