package io.seckill.support.thread;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

class LoggedRoundsTest {

  private final Logger logger = (Logger) LoggerFactory.getLogger(LoggedRounds.class);
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

  @BeforeEach
  void listen() {
    logged.start();
    logger.addAppender(logged);
  }

  @AfterEach
  void stopListening() {
    logger.detachAppender(logged);
  }

  @Test
  void logsOnceWhenRoundsBeginToFailAndOnceWhenTheyWorkAgain() {
    rounds(null, away(), away(), away(), null, null, away());

    assertThat(logged.list)
        .extracting(event -> event.getLevel() + " " + event.getFormattedMessage())
        .containsExactly(
            "WARN sweep fails and is repeated: " + away(),
            "INFO sweep works again",
            "WARN sweep fails and is repeated: " + away());
  }

  @Test
  void logsAnotherFailureAsWellAndADefectWithItsStack() {
    rounds(away(), new JedisDataException("LOADING"), new IllegalStateException("defect"), away());

    assertThat(logged.list)
        .extracting(event -> event.getLevel() + " " + (event.getThrowableProxy() != null))
        .containsExactly("WARN false", "WARN false", "ERROR true", "WARN false");
  }

  private static RuntimeException away() {
    return new JedisConnectionException("refused");
  }

  /** Runs a round for each outcome; null for one that works. */
  private static void rounds(@Nullable RuntimeException... outcomes) {
    Queue<RuntimeException> left = new ArrayDeque<>();
    RuntimeException works = new RuntimeException();
    Arrays.stream(outcomes).forEach(outcome -> left.add(outcome == null ? works : outcome));
    LoggedRounds rounds =
        new LoggedRounds(
            "sweep",
            () -> {
              RuntimeException next = left.remove();
              if (next != works) {
                throw next;
              }
            });
    for (int i = 0; i < outcomes.length; i++) {
      rounds.run();
    }
  }
}
