package io.seckill.gateway.ops;

import io.seckill.gateway.backends.BlockingCalls;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** The relays' lanes, for operators. */
@RestController
final class LanesController {

  private final LaneRegistry registry;
  private final BlockingCalls calls;

  LanesController(LaneRegistry registry, @Qualifier("operatorRedisCalls") BlockingCalls calls) {
    this.registry = registry;
    this.calls = calls;
  }

  @GetMapping("/admin/v1/lanes")
  Mono<Lanes> list() {
    return calls.call(registry::read);
  }
}
