package io.seckill.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.testing.OperatorExchange;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import io.seckill.testing.LoggedLines;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class ReactiveAuditTest {

  @AutoClose private final LoggedLines lines = LoggedLines.of("audit");

  /** An operator repeats what may have been done. */
  @Test
  void separatesRefusalsFromWhatMayHaveBeenDone() {
    write(Mono.just("row")).subscribe();
    write(Mono.error(ProblemException.of(ProblemCode.SALE_RUNNING))).onErrorComplete().subscribe();
    write(Mono.error(ProblemException.of(ProblemCode.DATABASE_UNAVAILABLE)))
        .onErrorComplete()
        .subscribe();
    write(Mono.error(new IllegalStateException("a defect"))).onErrorComplete().subscribe();
    write(Mono.never()).subscribe().dispose();

    assertThat(lines.texts())
        .containsExactly(
            line("done"),
            line("refused=SALE_RUNNING"),
            line("unknown=DATABASE_UNAVAILABLE"),
            line("unknown=INTERNAL_ERROR"),
            line("unknown=CALLER_LEFT"));
  }

  private static String line(String outcome) {
    return "operator=olga action=open sku=1001 " + outcome + " correlation=correlation-1";
  }

  private static Mono<String> write(Mono<String> write) {
    return new ReactiveAudit(new AuditLog())
        .write(
            OperatorExchange.of("olga", "correlation-1"),
            "open",
            "sku=1001",
            write,
            done -> "done");
  }
}
