package io.seckill.gateway.ops;

import io.seckill.gateway.backends.BlockingCalls;
import io.seckill.support.web.ProductRow;
import java.util.List;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.http.MediaType;
import org.springframework.http.codec.ServerSentEvent;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What operators watch: products, lanes, and the stream of the operations page. */
@RestController
final class OpsController {

  private final OpsEvents events;
  private final SalesTable sales;
  private final BlockingCalls mysqlCalls;
  private final LaneRegistry lanes;
  private final BlockingCalls redisCalls;

  OpsController(
      OpsEvents events,
      SalesTable sales,
      @Qualifier("operatorMysqlCalls") BlockingCalls mysqlCalls,
      LaneRegistry lanes,
      @Qualifier("operatorRedisCalls") BlockingCalls redisCalls) {
    this.events = events;
    this.sales = sales;
    this.mysqlCalls = mysqlCalls;
    this.lanes = lanes;
    this.redisCalls = redisCalls;
  }

  /** The body of a list response; an object, so that members can be added later. */
  record Listed(List<ProductRow> skus) {}

  @GetMapping("/admin/v1/skus")
  Mono<Listed> skus() {
    return mysqlCalls.call(() -> new Listed(sales.products()));
  }

  @GetMapping("/admin/v1/lanes")
  Mono<Lanes> lanes() {
    return redisCalls.call(lanes::read);
  }

  @GetMapping(path = "/admin/v1/events", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
  Flux<ServerSentEvent<String>> events() {
    return events
        .watch()
        .map(json -> ServerSentEvent.<String>builder().event("snapshot").data(json).build());
  }
}
