package io.seckill.gateway.catalogue;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.seckill.support.web.PathIds;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** The public page of a SKU. */
@RestController
final class SkuPageController {

  private final SkuPages pages;
  private final Clock clock = Clock.systemUTC();

  SkuPageController(SkuPages pages) {
    this.pages = pages;
  }

  /**
   * The page at this moment.
   *
   * @param serverTime for countdowns
   */
  record Shown(
      @JsonUnwrapped SkuPage page,
      boolean onSale,
      @JsonFormat(shape = JsonFormat.Shape.STRING) Instant serverTime) {}

  @GetMapping("/api/v1/skus/{sku}")
  Mono<Shown> show(@PathVariable String sku) {
    return pages
        .of(PathIds.sku(sku))
        .map(
            page -> {
              Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
              return new Shown(page, page.onSaleAt(now), now);
            });
  }
}
