package io.seckill.gateway.testing;

import static org.awaitility.Awaitility.await;

import io.seckill.testing.CleanEnvironment;
import io.seckill.testing.Eventually;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.Ports;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RowLock;
import io.seckill.testing.UnpackedService;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The real order-consumer as a child process; migrates its database at start. */
public final class ConsumerProcess implements AutoCloseable {

  public static final String TOKEN = "token-of-the-tests-0123456789";

  private static final HttpClient HTTP =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(2)).build();

  private final int port;
  private final Process process;
  private final RowLock schedules;

  private ConsumerProcess(int port, Process process, RowLock schedules) {
    this.port = port;
    this.process = process;
    this.schedules = schedules;
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill-consumer"));
  }

  /** Starts order-consumer and waits until it is ready, at most 2 minutes. */
  public static ConsumerProcess start(
      RedisDatabase redis, RabbitVhost rabbit, MySqlDatabase mysql) {
    return start(redis.url(), rabbit, mysql, Map.of());
  }

  /** As {@link #start(RedisDatabase, RabbitVhost, MySqlDatabase)}, with environment variables. */
  public static ConsumerProcess start(
      String redisUrl, RabbitVhost rabbit, MySqlDatabase mysql, Map<String, String> environment) {
    int port = Ports.free();
    Path root = Path.of(System.getProperty("seckill.root"));
    Path log = root.resolve("gateway-service/target/logs/order-consumer-" + port + ".log");
    List<String> java =
        new ArrayList<>(
            List.of(
                System.getProperty("java.home") + "/bin/java",
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1"));
    java.addAll(
        UnpackedService.arguments(root.resolve("order-consumer/target/order-consumer.jar")));
    ProcessBuilder command = new ProcessBuilder(java);
    CleanEnvironment.give(
        command,
        Map.of(
            "SERVER_PORT", Integer.toString(port),
            "SECKILL_INTERNAL_TOKEN", TOKEN,
            "SECKILL_REDIS_URL", redisUrl,
            "SECKILL_BROKER_URLS", rabbit.url(),
            "SPRING_DATASOURCE_URL", mysql.jdbcUrl(),
            "SPRING_DATASOURCE_USERNAME", mysql.username(),
            "SPRING_DATASOURCE_PASSWORD", mysql.password(),
            "SPRING_FLYWAY_URL", mysql.jdbcUrl(),
            "SPRING_FLYWAY_USER", mysql.username(),
            "SPRING_FLYWAY_PASSWORD", mysql.password()));
    command.environment().put("SERVER_ADDRESS", "127.0.0.1");
    command.environment().put("SECKILL_DEMO_ENABLED", "true");
    // The shared Redis is not persistent.
    command.environment().put("SECKILL_PREHEAT_ALLOWUNSAFEREDIS", "true");
    command.environment().put("SECKILL_REDIS_SOCKETTIMEOUT", "10s"); // on a slow machine
    // Rare, because some tests make the stores disagree on purpose.
    command.environment().put("SECKILL_RECONCILIATION_INTERVAL", "1h");
    command.environment().putAll(environment);
    try {
      Files.createDirectories(log.getParent());
      return new ConsumerProcess(
              port,
              command.redirectErrorStream(true).redirectOutput(log.toFile()).start(),
              mysql.lockSchedules())
          .awaitReady(log);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ConsumerProcess awaitReady(Path log) {
    try {
      await("order-consumer to become ready, see " + log)
          .timeout(Eventually.SOON) // also under a mutation, which does not delay it
          .failFast("order-consumer died, see " + log, () -> !process.isAlive())
          .until(this::isReady);
      return this;
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  public String url() {
    return "http://127.0.0.1:" + port;
  }

  private boolean isReady() throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url() + "/actuator/health/readiness"))
            .timeout(Duration.ofSeconds(5))
            .build();
    try {
      return HTTP.send(request, BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    schedules.close();
  }
}
