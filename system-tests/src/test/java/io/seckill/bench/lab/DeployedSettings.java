package io.seckill.bench.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The servers' settings that we ship, read from {@code deploy/}: durability above all. */
final class DeployedSettings {

  private static final Path DEPLOY = Path.of(System.getProperty("seckill.root"), "deploy");

  /** The most that the services allow. */
  private static final int HEARTBEAT_SECONDS = 60;

  private DeployedSettings() {}

  static String[] redis() {
    return lines("redis/redis.conf").toArray(String[]::new);
  }

  static String[] mysql() {
    return lines("mysql/my.cnf").filter(line -> !line.equals("[mysqld]")).toArray(String[]::new);
  }

  /**
   * Statistics at the pace that brokers have by default: tests read them four times a second, which
   * costs throughput. Heartbeats that outlive a consumer that is frozen while its queues are
   * filled.
   */
  static String[] rabbit() {
    return Stream.concat(
            lines("rabbitmq/rabbitmq.conf"),
            Stream.of("collect_statistics_interval = 5000", "heartbeat = " + HEARTBEAT_SECONDS))
        .toArray(String[]::new);
  }

  /** Variables for the services, whose heartbeats count if the broker's are no shorter. */
  static Map<String, String> services() {
    return Map.of(
        "SECKILL_BROKER_HEARTBEAT", HEARTBEAT_SECONDS + "s",
        "SPRING_RABBITMQ_REQUESTEDHEARTBEAT", HEARTBEAT_SECONDS + "s");
  }

  private static Stream<String> lines(String file) {
    try {
      List<String> lines = Files.readAllLines(DEPLOY.resolve(file));
      return lines.stream()
          .map(String::strip)
          .filter(line -> !line.isEmpty() && !line.startsWith("#"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
