package io.seckill.consumer.fallback;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.consumer.fallback.RedisLooks.Look;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReserveTest {

  @ParameterizedTest
  @CsvSource({
    "0, 0, 100, 0, 100, 0",
    "40, 30, 60, 0, 70, 10",
    "30, 40, 60, 0, 60, 0", // a late order of an earlier epoch
    "40, 30, 60, 100, 70, 70",
    "40, 30, 61, 50, 70, 41", // rounded up
    "40, 0, 60, 100, 70, 70", // never more than there is
    "0, 0, 1000000000, 100, 1000000000, 1000000000"
  })
  void isWhatIsKnownAndAShareOfTheRest(
      long admitted, long decided, long unsold, int percent, long stock, long units) {
    assertThat(new Reserve(admitted, decided, unsold, percent, stock).units()).isEqualTo(units);
  }

  @ParameterizedTest
  @CsvSource({
    "0, 0, 100, 100, 100, true",
    "40, 30, 60, 100, 70, true",
    "40, 0, 60, 50, 70, true", // more than there is
    "0, 0, 100, 50, 100, false",
    "100, 0, 0, 0, 100, false" // of known size, although it takes all stock
  })
  void isAllIfOrdersThatNobodyKnowsMayNeedAllStock(
      long admitted, long decided, long unsold, int percent, long stock, boolean all) {
    assertThat(new Reserve(admitted, decided, unsold, percent, stock).isAll()).isEqualTo(all);
  }

  @ParameterizedTest
  @CsvSource({
    "-5000, 10", // of 20 unsold
    "-5001, 40", // of 80: units may have been returned since, or added
    "1000, 10", // after the switch, where Redis is not away
    "-86400000, 40"
  })
  void onlyALookAsOldAsTheSwitchShowsWhatWasUnsold(long msAfterTheSwitch, long units) {
    Look look = new Look(nanos(msAfterTheSwitch), 1, 1, 30, 20);

    assertThat(Reserve.of(Optional.of(look), nanos(0), 0, 30, 50, 80).units()).isEqualTo(units);
  }

  @Test
  void aLookOfAnyAgeShowsWhatWasAdmittedAtLeast() {
    Optional<Look> old = Optional.of(new Look(nanos(-3_600_000), 1, 1, 30, 20));

    assertThat(Reserve.of(old, nanos(0), 25, 20, 0, 80).units()).isEqualTo(10);
    assertThat(Reserve.of(Optional.empty(), nanos(0), 25, 20, 0, 80).units()).isEqualTo(5);
  }

  /** System.nanoTime() may be near its overflow. */
  private static long nanos(long ms) {
    return Long.MAX_VALUE - 1 + ms * 1_000_000;
  }
}
