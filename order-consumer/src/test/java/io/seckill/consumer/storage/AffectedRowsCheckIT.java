package io.seckill.consumer.storage;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.TestServers;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(TestServers.class)
class AffectedRowsCheckIT {

  @Test
  void refusesToStartWithoutUseAffectedRows() { // facts.md 28
    assertThatThrownBy(() -> start("useAffectedRows=true", "useAffectedRows=false"))
        .hasStackTraceContaining("useAffectedRows=true must be part of spring.datasource.url")
        .hasStackTraceContaining("1, 2, 1 instead of 1, 2, 0");
  }

  @Test
  void refusesToStartWithRewrittenBatches() { // facts.md 31
    assertThatThrownBy(
            () -> start("rewriteBatchedStatements=false", "rewriteBatchedStatements=true"))
        .hasStackTraceContaining("rewriteBatchedStatements must not be on");
  }

  private static void start(String parameter, String instead) {
    MySqlDatabase database = TestServers.mysql().newDatabase();
    String url = database.jdbcUrl();
    TestConsumer.start(
            Map.of(
                "spring.datasource.url", url.replace(parameter, instead),
                "spring.datasource.username", database.username(),
                "spring.datasource.password", database.password(),
                "spring.flyway.url", url,
                "spring.flyway.user", database.username(),
                "spring.flyway.password", database.password()))
        .close();
  }
}
