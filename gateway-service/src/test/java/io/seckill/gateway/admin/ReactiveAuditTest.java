package io.seckill.gateway.admin;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.seckill.gateway.testing.OperatorExchange;
import io.seckill.support.web.AuditLog;
import io.seckill.support.web.ProblemCode;
import io.seckill.support.web.ProblemException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

class ReactiveAuditTest {

  private final Logger logger = (Logger) LoggerFactory.getLogger("audit");
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();

  @BeforeEach
  void listen() {
    lines.start();
    logger.setLevel(Level.INFO);
    logger.addAppender(lines);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(lines);
  }

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

    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
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
