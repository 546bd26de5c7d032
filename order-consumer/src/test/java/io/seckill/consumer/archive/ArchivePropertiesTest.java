package io.seckill.consumer.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArchivePropertiesTest {

  @ParameterizedTest
  @CsvSource({"0, 0", "0, 30", "1, 30", "3650, 36500"})
  void takesDaysWithinTheBounds(int after, int keep) {
    assertThat(new ArchiveProperties(Duration.ofDays(after), Duration.ofDays(keep)).keep())
        .hasDays(keep);
  }

  @ParameterizedTest
  @CsvSource({
    "PT23H59M, P30D, after",
    "PT-24H, P30D, after",
    "P3651D, P30D, after",
    "P1D, PT719H, keep",
    "P1D, PT-24H, keep",
    "P1D, P36501D, keep"
  })
  void refusesOthers(Duration after, Duration keep, String named) {
    assertThatThrownBy(() -> new ArchiveProperties(after, keep))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("seckill.archive." + named);
  }

  @Test
  void everyPhaseLeadsToTheNext() {
    assertThat(ArchivePhase.REDIS.next()).isEqualTo(ArchivePhase.ORDERS);
    assertThat(ArchivePhase.ORDERS.next()).isEqualTo(ArchivePhase.REST);
    assertThat(ArchivePhase.REST.next()).isEqualTo(ArchivePhase.DONE);
    assertThat(ArchivePhase.DONE.next()).isEqualTo(ArchivePhase.PURGED);
  }
}
