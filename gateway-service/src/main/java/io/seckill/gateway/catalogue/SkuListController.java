package io.seckill.gateway.catalogue;

import com.fasterxml.jackson.annotation.JsonFormat;
import io.seckill.common.sale.Decider;
import io.seckill.common.sale.SaleState;
import io.seckill.support.web.ProductRow;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** The public list of current and coming sales; built at most twice a second. */
@RestController
final class SkuListController {

  private static final Duration FRESH = Duration.ofMillis(500);
  private static final int MOST = 50;
  private static final Set<SaleState> LISTED =
      EnumSet.of(SaleState.PREHEATED, SaleState.OPEN, SaleState.PAUSED);

  private final ProductCache products;
  private final SaleStockCache sales;
  private final Mono<List<Listed>> skus;
  private final Clock clock = Clock.systemUTC();

  SkuListController(ProductCache products, SaleStockCache sales) {
    this.products = products;
    this.sales = sales;
    this.skus =
        Mono.defer(this::read).cache(list -> FRESH, failure -> Duration.ZERO, () -> Duration.ZERO);
  }

  /**
   * A product with its sale.
   *
   * @param decides MYSQL for a strong sale
   * @param soldOut whether no unit is left to be admitted
   */
  record Listed(
      long skuId,
      String name,
      long priceCents,
      Decider decides,
      String state,
      boolean soldOut,
      @JsonFormat(shape = JsonFormat.Shape.STRING) Instant opensAt,
      @JsonFormat(shape = JsonFormat.Shape.STRING) Instant closesAt) {}

  /** The products, soonest sale first, with the server's time for countdowns. */
  record Shown(
      List<Listed> skus, @JsonFormat(shape = JsonFormat.Shape.STRING) Instant serverTime) {}

  @GetMapping("/api/v1/skus")
  Mono<Shown> list() {
    return skus.map(list -> new Shown(list, clock.instant().truncatedTo(ChronoUnit.MILLIS)));
  }

  private Mono<List<Listed>> read() {
    Instant now = clock.instant();
    List<ProductRow> shown =
        products.all().stream()
            .filter(product -> LISTED.contains(product.state()))
            .filter(product -> product.closesAt().isAfter(now))
            .sorted(Comparator.comparing(ProductRow::opensAt).thenComparing(ProductRow::skuId))
            .limit(MOST)
            .toList();
    return sales
        .of(shown)
        .map(
            found ->
                shown.stream()
                    .map(one -> listed(one, Objects.requireNonNull(found.get(one.skuId()))))
                    .toList());
  }

  private static Listed listed(ProductRow product, SaleStockCache.SaleStock sale) {
    long left = sale.stock() == null ? product.stock() : sale.stock();
    return new Listed(
        product.skuId(),
        product.name(),
        product.priceCents(),
        product.decides(),
        product.state().name(),
        left <= 0,
        product.opensAt(),
        product.closesAt());
  }
}
