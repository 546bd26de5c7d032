package io.seckill.consumer.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.SQLExceptionOverride;
import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DemotedServerTest {

  /** The last one is a duplicate key. */
  @ParameterizedTest
  @CsvSource({"1290, MUST_EVICT", "1836, MUST_EVICT", "1062, CONTINUE_EVICT"})
  void givesUpAConnectionToAServerThatIsReadOnly(int error, SQLExceptionOverride.Override verdict) {
    SQLException refusal = new SQLException("refused", "HY000", error);

    assertThat(new DemotedServer().adjudicate(refusal)).isEqualTo(verdict);
  }
}
