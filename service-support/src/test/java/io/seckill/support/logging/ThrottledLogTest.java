package io.seckill.support.logging;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.testing.LoggedLines;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class ThrottledLogTest {

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);
  @AutoClose private final LoggedLines lines = LoggedLines.of(ThrottledLogTest.class);
  private final ThrottledLog log =
      new ThrottledLog(LoggerFactory.getLogger(ThrottledLogTest.class), nanos::get);

  @Test
  void logsOneLineAMinuteOfEachClassOfExceptions() {
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

    assertThat(lines.texts())
        .containsExactly(
            "POST /orders: java.io.IOException: refused",
            "POST /orders: java.lang.IllegalStateException: answered 503",
            "POST /payments: java.io.IOException: reset; 1000 such failures were not logged",
            "POST /payments: java.io.IOException: reset");
  }

  @Test
  void logsOneLineAMinuteOfEachText() {
    for (int i = 0; i < 3; i++) {
      log.warn("a token is refused: it fits no key");
      log.warn("a token is refused: it has no subject");
    }
    nanos.addAndGet(ThrottledLog.INTERVAL.toNanos());
    log.warn("a token is refused: it fits no key");

    assertThat(lines.texts())
        .containsExactly(
            "a token is refused: it fits no key",
            "a token is refused: it has no subject",
            "a token is refused: it fits no key; 2 such failures were not logged");
  }
}
