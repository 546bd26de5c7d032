package io.seckill.testing;

import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.rabbitmq.RabbitMQContainer;

/**
 * Runs servers as containers of the official images, which must be present already: a test never
 * waits for a download.
 */
final class ContainerBackend implements Backend {

  /** An engine that hangs is no engine; an engine of a busy machine answers within this time. */
  private static final long ANSWER_SECONDS = 20;

  private static final Pattern ELSEWHERE =
      Pattern.compile("^(ssh|tcp)://(?!(localhost|127\\.[0-9.]+|\\[::1\\])(:|$))");

  @Override
  public Optional<String> missing() {
    return Missing.REASON;
  }

  @Override
  public Machine redis(List<String> lines) {
    return new ContainerMachine(new RedisImage(lines));
  }

  @Override
  public Machine rabbit(List<String> lines) {
    return new ContainerMachine(new RabbitImage(lines));
  }

  @Override
  public Machine mysql(List<String> lines) {
    return new ContainerMachine(new MySqlImage(lines));
  }

  /**
   * Whether the ports of containers are on the loopback of another machine.
   *
   * @param engine its address, as docker or DOCKER_HOST has it
   */
  static boolean isElsewhere(String engine) {
    return ELSEWHERE.matcher(engine).find();
  }

  /** Checked once per JVM, and printed because test reports hide why a class was skipped. */
  private static final class Missing {

    private static final Optional<String> REASON = find();

    private static Optional<String> find() {
      Optional<String> reason = reason().map(why -> "Container tests are skipped: " + why);
      reason.ifPresent(System.out::println);
      return reason;
    }

    /**
     * Calls the docker command, because the client of Testcontainers would begin to pull images of
     * its own.
     */
    private static Optional<String> reason() {
      if (!succeeds("docker", "version")) {
        return Optional.of("no Docker engine answers.");
      }
      if (isElsewhere(engine())) {
        return Optional.of("the Docker engine is on another machine.");
      }
      return Stream.of(RedisImage.IMAGE, RabbitImage.IMAGE, MySqlImage.IMAGE)
          .filter(image -> !succeeds("docker", "image", "inspect", image))
          .findFirst()
          .map(
              image -> "the image " + image + " is not here; docker pull " + image + " brings it.");
    }

    private static String engine() {
      try {
        return Commands.run(
            List.of("docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}"),
            Map.of(),
            ANSWER_SECONDS);
      } catch (UncheckedIOException | IllegalStateException e) { // an old docker
        return System.getenv().getOrDefault("DOCKER_HOST", "");
      }
    }

    private static boolean succeeds(String... command) {
      try {
        Commands.run(List.of(command), Map.of(), ANSWER_SECONDS);
        return true;
      } catch (UncheckedIOException | IllegalStateException e) {
        return false;
      }
    }
  }

  /** mysql:9 with the configuration of {@link MariaDbProcess}. */
  private static final class MySqlImage implements ServerImage {

    static final String IMAGE = "mysql:9";
    private static final String CONFIGURATION = "/etc/mysql/conf.d/90-test.cnf";

    private final List<String> lines;

    MySqlImage(List<String> lines) {
      this.lines = lines;
    }

    @Override
    public String name() {
      return "mysql";
    }

    @Override
    public List<Integer> servicePorts() {
      return List.of(MySqlServer.SERVICE_PORT);
    }

    @Override
    public GenericContainer<?> newContainer() {
      List<String> configuration = new ArrayList<>(List.of("[mysqld]"));
      configuration.addAll(MariaDbProcess.defaults());
      configuration.addAll(lines);
      return new GenericContainer<>(IMAGE)
          .withEnv("MYSQL_ROOT_PASSWORD", MySqlServer.ROOT_PASSWORD)
          .withCopyToContainer(
              Transferable.of(String.join("\n", configuration) + "\n"), CONFIGURATION);
    }
  }

  /** rabbitmq:4-management with the configuration of {@link RabbitProcess}. */
  private static final class RabbitImage implements ServerImage {

    static final String IMAGE = "rabbitmq:4-management";

    private final List<String> lines;

    RabbitImage(List<String> lines) {
      this.lines = lines;
    }

    @Override
    public String name() {
      return "rabbitmq";
    }

    @Override
    public List<Integer> servicePorts() {
      return List.of(
          RabbitServer.SERVICE_PORT, RabbitServer.MANAGEMENT_PORT, RabbitServer.METRICS_PORT);
    }

    /** The image writes its own files in conf.d; a file with a later name overrides them. */
    @Override
    public GenericContainer<?> newContainer() {
      List<String> configuration = new ArrayList<>(RabbitProcess.defaults());
      configuration.addAll(lines);
      return new RabbitMQContainer(IMAGE)
          .withAdminUser(RabbitServer.USER)
          .withAdminPassword(RabbitServer.PASSWORD)
          .withCopyToContainer(file(configuration), "/etc/rabbitmq/conf.d/90-test.conf")
          .withCopyToContainer(
              file(RabbitProcess.advancedDefaults()), "/etc/rabbitmq/advanced.config");
    }

    private static Transferable file(List<String> lines) {
      return Transferable.of(String.join("\n", lines) + "\n");
    }
  }

  /** redis:8 with the configuration of {@link RedisProcess}. */
  private static final class RedisImage implements ServerImage {

    static final String IMAGE = "redis:8";
    private static final String CONFIGURATION = "/etc/redis-test.conf";

    private final List<String> lines;

    RedisImage(List<String> lines) {
      this.lines = lines;
    }

    @Override
    public String name() {
      return "redis";
    }

    @Override
    public List<Integer> servicePorts() {
      return List.of(RedisServer.SERVICE_PORT);
    }

    @Override
    public GenericContainer<?> newContainer() {
      List<String> configuration = new ArrayList<>(List.of("dir /data"));
      configuration.addAll(RedisProcess.defaults());
      configuration.addAll(lines);
      return new GenericContainer<>(IMAGE)
          .withCopyToContainer(Transferable.of(String.join("\n", configuration)), CONFIGURATION)
          .withCommand(
              "redis-server", CONFIGURATION, "--bind", "0.0.0.0", "--protected-mode", "no");
    }
  }
}
