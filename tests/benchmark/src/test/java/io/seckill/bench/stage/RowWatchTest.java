package io.seckill.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.system.load.LoadAnswer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Test;

class RowWatchTest {

  private static final Duration LOOK = Duration.ofMillis(1);
  private static final Duration PATIENCE = Duration.ofMillis(50);

  private final Set<Long> confirmed = new ConcurrentSkipListSet<>();
  private final RowWatch watch = RowWatch.start(this::between, LOOK, PATIENCE);

  @Test
  void timesEveryAcceptedPurchaseThatHasARow() throws Exception {
    confirmed.addAll(Set.of(7L, 8L));
    watch.answered(accepted(7));
    watch.answered(accepted(8));

    RowWatch.Outcome outcome = watch.outcome(2);

    assertThat(outcome.micros().getTotalCount()).isEqualTo(2);
    assertThat(outcome.failed()).isZero();
    assertThat(outcome.lost()).isZero();
  }

  @Test
  void countsRefusedAndUnansweredPurchasesAsFailed() throws Exception {
    confirmed.add(7L);
    watch.answered(accepted(7));
    watch.answered(new LoadAnswer(1, 503, "", System.nanoTime(), 1));
    watch.answered(new LoadAnswer(2, 202, "{}", System.nanoTime(), 1));

    RowWatch.Outcome outcome = watch.outcome(4);

    assertThat(outcome.failed()).isEqualTo(3);
    assertThat(outcome.lost()).isZero();
  }

  @Test
  void countsAnAcceptedPurchaseWithoutARowAsLost() throws Exception {
    confirmed.add(7L);
    watch.answered(accepted(7));
    watch.answered(accepted(8));

    assertThat(watch.outcome(2).lost()).isEqualTo(1);
  }

  @Test
  void countsOneOrderForTwoPurchasesAsOneLost() throws Exception {
    confirmed.add(7L);
    watch.answered(accepted(7));
    watch.answered(accepted(7));

    assertThat(watch.outcome(2).lost()).isEqualTo(1);
  }

  @Test
  void saysThatItCouldNotLook() {
    RowWatch blind =
        RowWatch.start(
            (first, last) -> {
              throw new SQLException("no connection");
            },
            LOOK,
            PATIENCE);
    blind.answered(accepted(7));

    assertThatThrownBy(() -> blind.outcome(1)).hasRootCauseMessage("no connection");
  }

  private List<Long> between(long first, long last) {
    return confirmed.stream().filter(id -> id >= first && id <= last).toList();
  }

  private static LoadAnswer accepted(long orderId) {
    return new LoadAnswer(0, 202, "{\"orderId\":\"" + orderId + "\"}", System.nanoTime(), 1);
  }
}
