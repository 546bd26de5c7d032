package io.seckill.support.logging;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ThrottledLogTest {

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);
  private final Logger logger = (Logger) LoggerFactory.getLogger(ThrottledLogTest.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final ThrottledLog log = new ThrottledLog(logger, nanos::get);

  @Test
  void logsOneLineAMinuteOfEachClassOfExceptions() {
    lines.start();
    logger.addAppender(lines);
    try {
      for (int i = 0; i < 1_000; i++) {
        log.warn("POST /orders", new IOException("refused"));
        log.warn("POST /orders", new IllegalStateException("answered 503"));
      }
      nanos.addAndGet(ThrottledLog.INTERVAL.toNanos() - 1);
      log.warn("POST /orders", new IOException("refused"));
      nanos.incrementAndGet();
      log.warn("POST /payments", new IOException("reset"));
      nanos.addAndGet(ThrottledLog.INTERVAL.toNanos());
      log.warn("POST /payments", new IOException("reset"));
    } finally {
      logger.detachAppender(lines);
    }

    assertThat(lines.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly(
            "POST /orders: java.io.IOException: refused",
            "POST /orders: java.lang.IllegalStateException: answered 503",
            "POST /payments: java.io.IOException: reset; 1000 such failures were not logged",
            "POST /payments: java.io.IOException: reset");
  }
}
