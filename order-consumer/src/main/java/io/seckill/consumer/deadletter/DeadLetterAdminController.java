package io.seckill.consumer.deadletter;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.seckill.consumer.web.JsonBody;
import io.seckill.consumer.web.Reason;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.PathIds;
import io.seckill.support.web.RequestChecks;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Dead letters on the internal port. */
@RestController
@RequestMapping("/internal/v1/dead-letters")
record DeadLetterAdminController(
    DeadLetters deadLetters, DeadLetterResolver resolver, AuditLog audit) {

  private static final int DEFAULT_LIMIT = 50;
  private static final int MAX_LIMIT = 200;

  /** {@code next} is the value of {@code after} for the next page; null on the last page. */
  record Page(
      @JsonIgnoreProperties({"payload", "payloadBase64"}) List<DeadLetterRecord> deadLetters,
      @Nullable Long next) {}

  @GetMapping
  Page list(
      @RequestParam(required = false) @Nullable String state,
      @RequestParam(required = false) @Nullable String limit,
      @RequestParam(required = false) @Nullable String after) {
    int size = PathIds.limit(limit, DEFAULT_LIMIT, MAX_LIMIT);
    DeadLetterState of =
        state == null ? null : RequestChecks.oneOf("state", state, DeadLetterState.class);
    long from = after == null ? 0 : PathIds.number("after", after);
    List<DeadLetterRecord> page =
        of == null
            ? deadLetters.findByIdGreaterThanOrderById(from, Limit.of(size))
            : deadLetters.findByStateAndIdGreaterThanOrderById(of, from, Limit.of(size));
    return new Page(page, page.size() == size ? page.get(size - 1).id() : null);
  }

  @GetMapping("/{id}")
  DeadLetterRecord show(@PathVariable String id) {
    return resolver.show(PathIds.number("id", id));
  }

  @PostMapping("/{id}/replay")
  DeadLetterRecord replay(@PathVariable String id, Operator operator) {
    long letter = PathIds.number("id", id);
    return audit.audited(
        operator,
        "replay",
        "deadLetter=" + letter,
        () -> resolver.replay(letter, operator),
        done -> "order=" + done.orderId());
  }

  /** The reason says why the order will never be stored. */
  @PostMapping("/{id}/discard")
  DeadLetterRecord discard(@PathVariable String id, Operator operator, @JsonBody Reason body) {
    long letter = PathIds.number("id", id);
    return audit.audited(
        operator,
        "discard",
        "deadLetter=" + letter,
        () -> resolver.discard(letter, body.reason(), operator),
        done -> "order=" + done.orderId());
  }
}
