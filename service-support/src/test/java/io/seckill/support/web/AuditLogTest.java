package io.seckill.support.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class AuditLogTest {

  @Test
  void aChangeThatIsRefusedOrFailsLeavesALineToo() {
    ListAppender<ILoggingEvent> lines = new ListAppender<>();
    lines.start();
    Logger logger = (Logger) LoggerFactory.getLogger("audit");
    logger.setLevel(Level.INFO);
    logger.addAppender(lines);
    ProblemException refusal = ProblemException.of(ProblemCode.SALE_RUNNING);
    RuntimeException failure = new IllegalStateException("a defect");
    try {
      assertThat(audited(() -> 3)).isEqualTo(3);
      assertThatThrownBy(() -> audited(failing(refusal))).isSameAs(refusal);
      assertThatThrownBy(() -> audited(failing(failure))).isSameAs(failure);
    } finally {
      logger.detachAppender(lines);
    }

    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly(
            "operator=olga action=preheat sku=1001 epoch=3",
            "operator=olga action=preheat sku=1001 refused=SALE_RUNNING",
            "operator=olga action=preheat sku=1001 failed=IllegalStateException");
  }

  private static int audited(Supplier<Integer> work) {
    return new AuditLog()
        .audited(new Operator("olga"), "preheat", "sku=1001", work, epoch -> "epoch=" + epoch);
  }

  private static Supplier<Integer> failing(RuntimeException failure) {
    return () -> {
      throw failure;
    };
  }
}
