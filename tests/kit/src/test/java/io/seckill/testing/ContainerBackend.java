package io.seckill.testing;

import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Runs servers as containers of the official images, which must be present already: a test never
 * waits for a download.
 */
final class ContainerBackend implements Backend {

  /** An engine that hangs is no engine; an engine of a busy machine answers within this time. */
  private static final long ANSWER_SECONDS = 20;

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
      return Stream.of(RedisImage.IMAGE, RabbitImage.IMAGE, MySqlImage.IMAGE)
          .filter(image -> !succeeds("docker", "image", "inspect", image))
          .findFirst()
          .map(
              image -> "the image " + image + " is not here; docker pull " + image + " brings it.");
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
}
