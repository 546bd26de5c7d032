package io.seckill.consumer.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.consumer.runtime.SweeperPauses;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

class DailyAuditTest {

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final NothingToDo table = new NothingToDo();

  private DailyAudit at(String now) {
    table.now = Instant.parse(now);
    return new DailyAudit(null, table, null, null, null, meters);
  }

  @ParameterizedTest
  @CsvSource({
    "2026-11-26T03:00:00Z,     2026-11-26T03:00:00Z",
    "2026-11-26T02:59:59.999Z, 2026-11-25T03:00:00Z",
    "2026-11-26T23:59:59Z,     2026-11-26T03:00:00Z",
    "2026-03-01T00:00:00Z,     2026-02-28T03:00:00Z"
  })
  void isDueAtThreeUtc(String now, String due) {
    DailyAudit audit = at(now);

    SweeperPauses.round(audit.auditSweeper());

    assertThat(table.due).isEqualTo(Instant.parse(due));
    assertThat(audit.today()).hasToString(due.substring(0, 10));
  }

  /** For the alerts. */
  @Test
  void showsWhatIsDueAndWhatTheAuditsOfTheDayHaveFound() {
    at("2026-11-26T10:00:00Z").round();

    assertThat(meters.get("seckill.consumer.audit.due").gauge().value()).isEqualTo(3);
    assertThat(meters.get("seckill.consumer.audit.differences").gauge().value()).isEqualTo(5);
  }

  private static final class NothingToDo extends AuditTable {
    private Instant now = Instant.EPOCH;
    private Instant due = Instant.EPOCH;

    NothingToDo() {
      super(JdbcClient.create(new JdbcTemplate()));
    }

    @Override
    Instant now() {
      return now;
    }

    @Override
    List<Long> due(Instant at) {
      due = at;
      return List.of();
    }

    @Override
    Standing standing(Instant at) {
      assertThat(at).isEqualTo(due);
      return new Standing(3, 5);
    }
  }
}
