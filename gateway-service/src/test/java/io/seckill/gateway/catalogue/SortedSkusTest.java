package io.seckill.gateway.catalogue;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.sale.SaleState;
import io.seckill.gateway.catalogue.SkuListController.SkuPlace;
import io.seckill.gateway.catalogue.SkuListController.SkuPlace.Group;
import io.seckill.gateway.catalogue.SkuListController.SkuPlace.When;
import io.seckill.gateway.catalogue.SortedSkus.Part;
import io.seckill.gateway.testing.TestProductRow;
import io.seckill.support.contract.ProductRow;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SortedSkusTest {

  private final Instant now = Instant.now();

  private final AtomicInteger reads = new AtomicInteger();
  private final AtomicLong nanos = new AtomicLong();
  private final List<ProductRow> products =
      Stream.of(
              LongStream.of(1, 3, 5).mapToObj(sku -> product(sku, SaleState.OPEN, 5)),
              LongStream.of(2, 4).mapToObj(sku -> product(sku, SaleState.PREHEATED, 5)),
              LongStream.of(6).mapToObj(sku -> product(sku, SaleState.OPEN, 0)),
              LongStream.of(7).mapToObj(sku -> product(sku, SaleState.CLOSED, 5)))
          .flatMap(part -> part)
          .toList();
  private final SortedSkus sorted =
      new SortedSkus(
          () -> {
            reads.incrementAndGet();
            return products;
          },
          nanos::get);

  /** Cursors are free text. */
  @Test
  void areSortedTwiceASecondForAllCursorsTogether() {
    for (int i = 1; i <= 1_000; i++) {
      assertThat(part(null, new SkuPlace(Group.SOLD_OUT, i, 1), 50).skus()).hasSize(1);
    }
    assertThat(reads).hasValue(1);

    eventually() // the age of a read that has just ended may not have begun
        .until(
            () -> {
              nanos.addAndGet(Duration.ofMillis(501).toNanos());
              part(null, null, 50);
              return reads.get() == 2;
            });
  }

  @Test
  void followEachOtherFromPartToPart() {
    assertThat(all(null, 2)).containsExactly(1L, 3L, 5L, 2L, 4L, 6L);
    assertThat(all(null, 6)).containsExactly(1L, 3L, 5L, 2L, 4L, 6L);
    assertThat(all(When.NOW, 1)).containsExactly(1L, 3L, 5L, 6L);
    assertThat(all(When.SOON, 50)).containsExactly(2L, 4L);
  }

  @Test
  void failWithTheReadOfTheProducts() {
    SortedSkus failing =
        new SortedSkus(
            () -> {
              throw new IllegalStateException("for the test");
            },
            nanos::get);

    CompletableFuture<Part> part = failing.part(null, null, 1);

    assertThatThrownBy(() -> part.get(60, TimeUnit.SECONDS))
        .hasCauseInstanceOf(IllegalStateException.class);
  }

  private List<Long> all(@Nullable When when, int limit) {
    Part part = part(when, null, limit);
    Stream<Long> skus = part.skus().stream().map(ProductRow::skuId);
    while (part.next() != null) {
      part = part(when, SkuPlace.ofCursor(part.next()), limit);
      assertThat(part.skus()).hasSizeBetween(1, limit);
      skus = Stream.concat(skus, part.skus().stream().map(ProductRow::skuId));
    }
    return skus.toList();
  }

  private Part part(@Nullable When when, @Nullable SkuPlace after, int limit) {
    return sorted.part(when, after, limit).orTimeout(60, TimeUnit.SECONDS).join();
  }

  /** Of one hour ago, or in one hour. */
  private ProductRow product(long sku, SaleState state, long stock) {
    int opens = state == SaleState.PREHEATED ? 3_600 : -3_600;
    return TestProductRow.of(sku)
        .state(state)
        .stock(stock)
        .times(now.plusSeconds(opens), now.plusSeconds(7_200))
        .row();
  }
}
