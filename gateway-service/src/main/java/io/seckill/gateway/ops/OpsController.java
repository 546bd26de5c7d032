package io.seckill.gateway.ops;

import static io.seckill.gateway.ops.SalesTable.MAX_PRODUCTS;

import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.gateway.ops.SalesTable.ProductPlace;
import io.seckill.support.contract.ProductRow;
import io.seckill.support.web.PathIds;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Shows operators products, lanes, and the stream of the operations page. */
@RestController
record OpsController(
    OpsEvents snapshots,
    SalesTable sales,
    LaneRegistry registry,
    @Qualifier("operatorRedisCalls") BlockingCalls redisCalls) {

  /** {@code next} is the cursor of the next page; null on the last one. */
  record Listed(List<ProductRow> skus, @Nullable String next) {}

  @GetMapping("/admin/v1/skus")
  Mono<Listed> skus(
      @RequestParam(required = false) @Nullable String limit,
      @RequestParam(required = false) @Nullable String cursor) {
    int size = PathIds.limit(limit, MAX_PRODUCTS, MAX_PRODUCTS);
    ProductPlace after = cursor == null ? null : ProductPlace.ofCursor(cursor);
    return sales.page(after, size).map(page -> listed(page, size));
  }

  private static Listed listed(List<ProductRow> page, int size) {
    String next = page.size() < size ? null : ProductPlace.of(page.get(page.size() - 1)).cursor();
    return new Listed(page, next);
  }

  @GetMapping("/admin/v1/lanes")
  Mono<Lanes> lanes() {
    return redisCalls.call(registry::read);
  }

  @GetMapping(path = "/admin/v1/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
  Flux<ServerSentEvent<String>> events() {
    return snapshots
        .watch()
        .map(json -> ServerSentEvent.<String>builder().event("snapshot").data(json).build());
  }
}
