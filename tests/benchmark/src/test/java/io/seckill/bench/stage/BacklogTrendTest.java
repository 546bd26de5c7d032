package io.seckill.bench.stage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BacklogTrendTest {

  private static final double SECONDS = 6;
  private static final double INTERVAL = 0.1;

  @Test
  void doesNotGrowWhenItStays() {
    assertThat(grows(t -> 300)).isFalse();
  }

  @Test
  void doesNotGrowWhenItShrinks() {
    assertThat(grows(t -> 900 - 100 * t)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void doesNotGrowWhenItOnlySwings(long seed) {
    Random random = new Random(seed);

    assertThat(grows(t -> 500 + 200 * random.nextGaussian())).isFalse();
  }

  @Test
  void doesNotGrowWhenBatchesComeAndGo() {
    assertThat(grows(t -> 400 * (t * 2 - Math.floor(t * 2)))).isFalse();
  }

  @Test
  void growsWhenTwoInAHundredOrdersStayBehindAtTenThousandASecond() {
    Random random = new Random(6);

    assertThat(grows(t -> 500 + 200 * t + 100 * random.nextGaussian())).isTrue();
  }

  @Test
  void growsWhenItGrowsSlowlyButSteadily() {
    assertThat(grows(t -> 10 + 5 * t)).isTrue();
  }

  @Test
  void judgesNothingByTwoLooks() {
    BacklogTrend trend = new BacklogTrend();
    trend.add(0, 0);
    trend.add(1, 0);

    assertThatThrownBy(trend::grows).isInstanceOf(IllegalStateException.class);
  }

  private static boolean grows(DoubleUnaryOperator backlog) {
    BacklogTrend trend = new BacklogTrend();
    for (double t = 0; t < SECONDS; t += INTERVAL) {
      trend.add(t, backlog.applyAsDouble(t));
    }
    return trend.grows();
  }
}
