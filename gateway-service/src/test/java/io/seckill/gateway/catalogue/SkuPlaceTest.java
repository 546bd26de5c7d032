package io.seckill.gateway.catalogue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.sale.SaleState;
import io.seckill.gateway.catalogue.SkuListController.SkuPlace;
import io.seckill.gateway.catalogue.SkuListController.SkuPlace.Group;
import io.seckill.gateway.catalogue.SkuListController.SkuPlace.When;
import io.seckill.gateway.testing.TestProductRow;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.ProblemException;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SkuPlaceTest {

  private static final Instant NOW = Instant.parse("2026-11-25T12:00:00Z");

  /**
   * @param opens with closes, seconds from now
   */
  private static ProductRow product(long sku, SaleState state, long stock, int opens, int closes) {
    return TestProductRow.of(sku)
        .state(state)
        .stock(stock)
        .times(NOW.plusSeconds(opens), NOW.plusSeconds(closes))
        .row();
  }

  @ParameterizedTest
  @CsvSource({
    "OPEN, 5, -1, 1, ON_SALE",
    "OPEN, 5, 0, 1, ON_SALE",
    "OPEN, 5, 1, 2, COMING",
    "OPEN, 0, 1, 2, COMING",
    "PREHEATED, 5, 1, 2, COMING",
    "PREHEATED, 5, -1, 2, COMING", // nobody has opened it yet
    "PAUSED, 5, -1, 2, PAUSED",
    "PAUSED, 5, 1, 2, COMING",
    "PAUSED, 0, -1, 2, SOLD_OUT",
    "OPEN, 0, -1, 2, SOLD_OUT",
    "OPEN, 5, -2, 0,",
    "NEW, 5, 1, 2,",
    "CLOSED, 5, -1, 2,"
  })
  void isInTheGroupThatAShopperExpects(
      SaleState state, long stock, int opens, int closes, Group group) {
    SkuPlace place = SkuPlace.of(product(1, state, stock, opens, closes), NOW);

    assertThat(place == null ? null : place.group()).isEqualTo(group);
  }

  @Test
  void isOrderedAsAShopperLooks() {
    List<SkuPlace> places =
        Stream.of(
                product(9, SaleState.OPEN, 0, -9, 1),
                product(8, SaleState.PAUSED, 5, -9, 1),
                product(7, SaleState.PREHEATED, 5, 20, 30),
                product(6, SaleState.OPEN, 5, 10, 40),
                product(5, SaleState.OPEN, 5, 10, 40),
                product(4, SaleState.OPEN, 5, -9, 50),
                product(3, SaleState.OPEN, 5, -1, 49))
            .map(product -> Objects.requireNonNull(SkuPlace.of(product, NOW)))
            .sorted(SkuPlace.ORDER)
            .toList();

    assertThat(places).extracting(SkuPlace::skuId).containsExactly(3L, 4L, 5L, 6L, 7L, 8L, 9L);
    assertThat(places).allMatch(place -> SkuPlace.ofCursor(place.cursor()).equals(place));
    assertThat(places.stream().filter(place -> When.SOON.has(place.group())))
        .isEqualTo(places.subList(2, 5));
    assertThat(places.stream().filter(place -> When.NOW.has(place.group()))).hasSize(4);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "x", "GONE-1-1", "COMING-1", "COMING--1-1", "COMING-1-0", "COMING-1-1-1"})
  void hasNoOtherCursor(String cursor) {
    assertThatThrownBy(() -> SkuPlace.ofCursor(cursor)).isInstanceOf(ProblemException.class);
  }
}
