package io.seckill.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CleanEnvironmentTest {

  private final ProcessBuilder builder = new ProcessBuilder("env");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "MNESIA_DIR",
        "NODENAME",
        "RABBITMQ_NODE_ONLY",
        "ERL_FLAGS",
        "UMASK",
        "MYSQL_HOST",
        "HAPROXY_MWORKER",
        "JAVA_TOOL_OPTIONS",
        "SPRING_PROFILES_ACTIVE",
        "SECKILL_FALLBACK"
      })
  void keepsNothingThatAProgramCouldObey(String name) {
    builder.environment().put(name, "of the caller");

    CleanEnvironment.give(builder, Map.of());

    assertThat(builder.environment()).doesNotContainKey(name);
  }

  @Test
  void keepsWhereProgramsAreAndAddsWhatIsGiven() {
    builder.environment().put("SECKILL_TEST_RUN", "7");
    builder.environment().put("DOCKER_HOST", "unix:///engine");
    builder.environment().put("ERL_FLAGS", "of the caller");

    CleanEnvironment.give(builder, Map.of("ERL_FLAGS", "of the test"));

    assertThat(builder.environment())
        .containsKey("PATH")
        .containsEntry("SECKILL_TEST_RUN", "7")
        .containsEntry("DOCKER_HOST", "unix:///engine")
        .containsEntry("ERL_FLAGS", "of the test");
  }
}
