package io.seckill.gateway.wallet;

import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.web.Caller;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemException;
import java.time.LocalDate;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/**
 * A shopper's own wallet, read only. Order-consumer reads the rows; its JSON is returned unchanged.
 */
@RestController
@RequestMapping("/api/v1/wallet")
record ShopperWalletController(ConsumerClient consumer) {

  private static final int DEFAULT_LIMIT = 50;
  private static final int MAX_LIMIT = 200;

  @GetMapping(produces = MediaType.APPLICATION_JSON_VALUE)
  Mono<JsonNode> balance(ServerWebExchange exchange) {
    return consumer.wallet(Caller.of(exchange).userId(), "");
  }

  /** Names no type, so that a request that accepts any type gets JSON. */
  @GetMapping("/entries")
  Mono<JsonNode> entries(
      @RequestParam(required = false) @Nullable String limit,
      @RequestParam(required = false) @Nullable String before,
      ServerWebExchange exchange) {
    int size = PathIds.limit(limit, DEFAULT_LIMIT, MAX_LIMIT);
    String older = before == null ? "" : "&before=" + PathIds.number("before", before);
    return consumer.wallet(Caller.of(exchange).userId(), "/entries?limit=" + size + older);
  }

  /** Days of UTC, both included. */
  @GetMapping(path = "/entries", produces = WalletStatementCsv.TYPE)
  ResponseEntity<Flux<String>> statement(
      @RequestParam(required = false) @Nullable String from,
      @RequestParam(required = false) @Nullable String to,
      ServerWebExchange exchange) {
    LocalDate first = PathIds.day("from", from);
    LocalDate last = PathIds.day("to", to);
    if (last.isBefore(first)) {
      throw ProblemException.invalid("to", "to must not be before from.");
    }
    long userId = Caller.of(exchange).userId();
    String path = "/statement?from=" + first + "&to=" + last;
    WalletStatementCsv csv = new WalletStatementCsv(first, last);
    return ResponseEntity.ok()
        .contentType(MediaType.parseMediaType(WalletStatementCsv.TYPE + ";charset=UTF-8"))
        .header(
            HttpHeaders.CONTENT_DISPOSITION,
            "attachment; filename=\"wallet-" + first + "-" + last + ".csv\"")
        .body(
            csv.of(after -> consumer.wallet(userId, after == 0 ? path : path + "&after=" + after)));
  }
}
