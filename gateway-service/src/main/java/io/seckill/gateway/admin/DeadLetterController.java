package io.seckill.gateway.admin;

import io.seckill.gateway.backends.ConsumerAnswer;
import io.seckill.gateway.backends.ConsumerClient;
import io.seckill.gateway.web.Caller;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.ProblemException;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;
import tools.jackson.databind.JsonNode;

/** Operators' endpoints for dead letters, which order-consumer stores. */
@RestController
@RequestMapping("/admin/v1/dead-letters")
final class DeadLetterController {

  private static final Set<String> STATES = Set.of("OPEN", "REPLAYED", "DISCARDED");
  private static final int DEFAULT_LIMIT = 50;
  private static final int MAX_LIMIT = 200;

  private final ConsumerClient consumer;
  private final ReactiveAudit audit;

  DeadLetterController(ConsumerClient consumer, ReactiveAudit audit) {
    this.consumer = consumer;
    this.audit = audit;
  }

  @GetMapping
  Mono<ResponseEntity<JsonNode>> list(
      @RequestParam(required = false) @Nullable String state,
      @RequestParam(required = false) @Nullable String limit,
      @RequestParam(required = false) @Nullable String after) {
    if (state != null && !STATES.contains(state)) {
      throw ProblemException.invalid("state", "state must be OPEN, REPLAYED or DISCARDED.");
    }
    String query =
        "?limit="
            + PathIds.limit(limit, DEFAULT_LIMIT, MAX_LIMIT)
            + (state == null ? "" : "&state=" + state)
            + (after == null ? "" : "&after=" + PathIds.number("after", after));
    return pass(consumer.deadLetters(query));
  }

  @GetMapping("/{id}")
  Mono<ResponseEntity<JsonNode>> show(@PathVariable String id) {
    return pass(consumer.deadLetter(PathIds.number("id", id)));
  }

  @PostMapping("/{id}/replay")
  Mono<ResponseEntity<JsonNode>> replay(@PathVariable String id, ServerWebExchange exchange) {
    long letter = PathIds.number("id", id);
    return pass(
        audit.write(
            exchange,
            "replay",
            "deadLetter=" + letter,
            consumer.replay(letter, Caller.operatorOf(exchange))));
  }

  @PostMapping(path = "/{id}/discard", consumes = MediaType.APPLICATION_JSON_VALUE)
  Mono<ResponseEntity<JsonNode>> discard(
      @PathVariable String id,
      @RequestBody(required = false) byte @Nullable [] body,
      ServerWebExchange exchange) {
    long letter = PathIds.number("id", id);
    String reason = DiscardBody.checked(body == null ? new byte[0] : body);
    return pass(
        audit.write(
            exchange,
            "discard",
            "deadLetter=" + letter,
            consumer.discard(letter, reason, Caller.operatorOf(exchange))));
  }

  private static Mono<ResponseEntity<JsonNode>> pass(Mono<ConsumerAnswer> answer) {
    return answer.map(good -> ResponseEntity.status(good.status()).body(good.body()));
  }
}
