package io.seckill.gateway.wallet;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.web.Caller;
import io.seckill.gateway.web.StreamPlaces;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemException;
import java.time.Duration;
import java.time.LocalDate;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/**
 * A shopper's own wallet, read only. Order-consumer reads the rows; its JSON is returned unchanged.
 */
@RestController
@RequestMapping("/api/v1/wallet")
final class ShopperWalletController {

  private static final MediaType CSV = new MediaType("text", "csv", UTF_8);
  private static final int DEFAULT_LIMIT = 50;
  private static final int MAX_LIMIT = 200;

  /**
   * Statements under way. Of one that its client does not read, Reactor Netty keeps up to 128 pages
   * in memory, some 100 kB each; and half of the connections for wallets stay free of them.
   */
  static final int MAX_STATEMENTS = 4;

  /** Longest time for a statement: a client that reads a byte now and then would keep its place. */
  private static final Duration STATEMENT_WITHIN = Duration.ofMinutes(1);

  private final ConsumerClient consumer;
  private final Duration statementWithin;
  private final StreamPlaces statements = new StreamPlaces("statements", MAX_STATEMENTS, 1);

  @Autowired
  ShopperWalletController(ConsumerClient consumer) {
    this(consumer, STATEMENT_WITHIN);
  }

  ShopperWalletController(ConsumerClient consumer, Duration statementWithin) {
    this.consumer = consumer;
    this.statementWithin = statementWithin;
  }

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
  Mono<Void> statement(
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
    return send(
        userId,
        new WalletStatementCsv(first, last),
        after -> consumer.wallet(userId, after == 0 ? path : path + "&after=" + after),
        exchange.getResponse());
  }

  /**
   * A statement keeps its place until its last byte is written, not only read. One that takes too
   * long is cut off, with its connection.
   */
  Mono<Void> send(
      long userId,
      WalletStatementCsv csv,
      LongFunction<Mono<JsonNode>> pages,
      ServerHttpResponse response) {
    return statements
        .within(
            userId,
            () -> {
              HttpHeaders headers = response.getHeaders();
              headers.setContentType(CSV);
              headers.set(
                  HttpHeaders.CONTENT_DISPOSITION, "attachment; filename=\"" + csv.name() + "\"");
              return response
                  .writeWith(
                      csv.of(pages)
                          .map(lines -> response.bufferFactory().wrap(lines.getBytes(UTF_8))))
                  .timeout(statementWithin);
            })
        .then();
  }
}
