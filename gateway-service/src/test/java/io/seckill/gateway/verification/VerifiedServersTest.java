package io.seckill.gateway.verification;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.gateway.verification.RedisInspection.View;
import io.seckill.gateway.verification.StoredSales.Sale;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
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

  @Test
  void aServerThatIsNoLongerVerifiedProvesNoAbsence() {
    servers.verified(3, "now");
    servers.compared(List.of(), new View(Map.of(3, "now"), Map.of()), Map.of());
    assertThat(servers.provesAbsence(3, "now")).isTrue();

    servers.otherServer(3, "now");

    assertThat(servers.provesAbsence(3, "now")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"PAUSED, false", "CLOSED, true"})
  void aServerWithAQuarantinedSaleProvesAbsenceOnlyOnceTheSaleIsOver(String state, boolean proves) {
    servers.verified(3, "now");
    servers.quarantine(Set.of(3L), 0);

    servers.compared(
        List.of(new Sale(3, state, false, 1, 1, 0)),
        new View(Map.of(3, "now"), Map.of()),
        Map.of());

    assertThat(servers.provesAbsence(3, "now")).isEqualTo(proves);
  }
}
