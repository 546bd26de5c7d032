package io.seckill.gateway.admin;

import io.seckill.gateway.web.Caller;
import io.seckill.gateway.web.CorrelationFilter;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.Operator;
import io.seckill.support.web.ProblemException;
import java.util.function.Function;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Writes a line to the audit log for every write that an operator requests, when it ends. */
@Component
record ReactiveAudit(AuditLog audit) {

  /**
   * Logs the line when the write ends.
   *
   * @param action constant text
   * @param subject built from constant text, numbers and validated ids
   * @param outcome the logged outcome of a successful write, constant text
   */
  <T> Mono<T> write(
      ServerWebExchange exchange,
      String action,
      String subject,
      Mono<T> write,
      Function<T, String> outcome) {
    return write
        .doOnSuccess(done -> line(exchange, action, subject, outcome.apply(done)))
        .doOnError(failure -> line(exchange, action, subject, outcome(failure)))
        .doOnCancel(() -> line(exchange, action, subject, "unknown=CALLER_LEFT"));
  }

  private static String outcome(Throwable failure) {
    if (failure instanceof ProblemException problem) {
      // From 500 on the write may have been applied; the operator repeats it.
      return (problem.problem().status() < 500 ? "refused=" : "unknown=")
          + problem.problem().code();
    }
    return "unknown=INTERNAL_ERROR";
  }

  private void line(ServerWebExchange exchange, String action, String subject, String outcome) {
    audit.record(
        new Operator(Caller.operatorOf(exchange)),
        action,
        subject,
        outcome + " correlation=" + CorrelationFilter.idOf(exchange));
  }
}
