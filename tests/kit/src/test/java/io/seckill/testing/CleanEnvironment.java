package io.seckill.testing;

import java.util.Map;
import java.util.Set;

/**
 * Environment of the programs that tests start. They obey variables of the caller that are meant
 * for others: MNESIA_DIR moves the data of RabbitMQ, SPRING_PROFILES_ACTIVE changes a service.
 */
public final class CleanEnvironment {

  private static final Set<String> KEPT =
      Set.of("HOME", "LANG", "LC_ALL", "PATH", "SECKILL_TEST_RUN", "TMPDIR");

  private CleanEnvironment() {}

  /** Replaces the builder's variables; those kept say where programs and folders are. */
  public static void give(ProcessBuilder builder, Map<String, String> environment) {
    builder
        .environment()
        .keySet()
        .removeIf(name -> !KEPT.contains(name) && !name.startsWith("DOCKER_"));
    builder.environment().putAll(environment);
  }
}
