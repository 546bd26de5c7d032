package io.seckill.gateway.verification;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.verification.RedisInspection.View;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VerifiedServersTest {

  private final VerifiedServers servers = new VerifiedServers();

  /** MySQL may lack what was published to the server before. */
  @ParameterizedTest
  @CsvSource({"before, false", "now, true"})
  void aServerProvesAbsenceOnlyOnceMySqlHasWhatWasPublishedBeforeIt(String proven, boolean proves) {
    servers.verified(3, "now");

    servers.compared(List.of(), new View(Map.of(3, "now"), Map.of()), Map.of(3, proven));

    assertThat(servers.provesAbsence(3, "now")).isEqualTo(proves);
  }
}
