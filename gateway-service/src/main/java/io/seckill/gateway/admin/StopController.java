package io.seckill.gateway.admin;

import io.seckill.common.sale.SaleState;
import io.seckill.gateway.admin.SaleStopper.Stopped;
import io.seckill.gateway.web.Caller;
import io.seckill.support.web.PathIds;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Pause and close: made here, because they must work while order-consumer is unavailable. */
@RestController
@RequestMapping(path = "/admin/v1/skus/{sku}", produces = MediaType.APPLICATION_JSON_VALUE)
record StopController(SaleStopper stopper, ReactiveAudit audit) {

  @PostMapping("/pause")
  Mono<ResponseEntity<Object>> pause(@PathVariable String sku, ServerWebExchange exchange) {
    return stop("pause", SaleState.PAUSED, sku, exchange);
  }

  @PostMapping("/close")
  Mono<ResponseEntity<Object>> close(@PathVariable String sku, ServerWebExchange exchange) {
    return stop("close", SaleState.CLOSED, sku, exchange);
  }

  private Mono<ResponseEntity<Object>> stop(
      String action, SaleState target, String sku, ServerWebExchange exchange) {
    long skuId = PathIds.sku(sku);
    return audit
        .write(
            exchange,
            action,
            "sku=" + skuId,
            stopper.stop(target, skuId, Caller.operatorOf(exchange)),
            stopped ->
                stopped instanceof Stopped.Partly partly ? "awaiting=" + partly.awaiting() : "done")
        .map(StopController::entity);
  }

  private static ResponseEntity<Object> entity(Stopped stopped) {
    return stopped instanceof Stopped.Everywhere everywhere
        ? ResponseEntity.ok(everywhere.product())
        : ResponseEntity.accepted().body(stopped);
  }
}
