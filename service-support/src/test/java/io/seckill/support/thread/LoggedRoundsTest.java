package io.seckill.support.thread;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.testing.LoggedLines;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

class LoggedRoundsTest {

  @AutoClose private final LoggedLines logged = LoggedLines.of(LoggedRounds.class);

  @Test
  void logsOnceWhenRoundsBeginToFailAndOnceWhenTheyWorkAgain() {
    rounds(null, away(), away(), away(), null, null, away());

    assertThat(logged.events())
        .extracting(event -> event.getLevel() + " " + event.getFormattedMessage())
        .containsExactly(
            "WARN sweep fails and is repeated: " + away(),
            "INFO sweep works again",
            "WARN sweep fails and is repeated: " + away());
  }

  @Test
  void logsAnotherFailureAsWellAndADefectWithItsStack() {
    rounds(away(), new JedisDataException("LOADING"), new IllegalStateException("defect"), away());

    assertThat(logged.events())
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
