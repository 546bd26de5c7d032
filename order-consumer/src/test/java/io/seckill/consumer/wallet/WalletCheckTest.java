package io.seckill.consumer.wallet;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WalletCheckTest {

  @ParameterizedTest
  @CsvSource({
    ",                     2026-11-26T10:00:00Z, true,  true",
    "2026-11-26T09:00:00Z, 2026-11-26T10:00:00Z, false, false",
    "2026-11-26T08:59:59Z, 2026-11-26T10:00:00Z, true,  false",
    "2026-11-25T23:30:00Z, 2026-11-26T00:29:59Z, false, true",
    "2026-11-25T23:30:00Z, 2026-11-26T00:30:01Z, true,  true",
    "2026-11-26T14:00:00Z, 2026-11-26T23:59:59Z, true,  false",
    "2026-11-26T14:00:00Z, 2026-11-26T10:00:00Z, true,  false",
  })
  void isMadeEveryHourAndTheFirstOfADayReadsEveryEntry(
      @Nullable Instant last, Instant now, boolean isDue, boolean isFirstOfDay) {
    assertThat(WalletCheck.isDue(last, now)).isEqualTo(isDue);
    assertThat(WalletCheck.isFirstOfDay(last, now)).isEqualTo(isFirstOfDay);
  }
}
