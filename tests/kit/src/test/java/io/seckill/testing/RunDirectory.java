package io.seckill.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.testcontainers.containers.GenericContainer;

/**
 * The directory of all servers of this JVM, and the guard process that ends them with the JVM.
 *
 * <p>Every server has a home directory in it, with a file {@code pid} while its process group runs.
 * The guard is a shell that waits for the end of its standard input, which the system closes
 * however this JVM ends, also at kill -9. Then the guard kills the remaining process groups,
 * removes the remaining containers and deletes the directory. A shutdown hook of the JVM could not
 * do this.
 */
final class RunDirectory {

  private static final String GUARD =
      """
      cat > /dev/null
      for pid in "$0"/*/pid; do
        [ -e "$pid" ] && read -r group < "$pid" && kill -s KILL -- "-$group" "$group"
      done
      [ ! -e "$0/containers" ] || docker ps -aq --filter "label=$1=$0" | xargs -r docker rm -f -v
      [ ! -r /proc/mounts ] || while read -r device folder rest; do
        case "$folder" in "$0"/*) umount -l "$folder" ;; esac
      done < /proc/mounts
      rm -rf "$0" || { sleep 1; rm -rf "$0"; }
      """;

  /** Label that marks the containers of this JVM; its value is the directory. */
  private static final String LABEL = "io.seckill.testing.run";

  private static final AtomicInteger HOMES = new AtomicInteger();

  private RunDirectory() {}

  /** Exists while this JVM runs. */
  static Path path() {
    return Holder.DIRECTORY;
  }

  /** A new directory for one server. */
  static Path newHome(String name) {
    Path home = Holder.DIRECTORY.resolve(name + "-" + HOMES.incrementAndGet());
    ServerFiles.createDirectories(home);
    return home;
  }

  /** Registers a container, before it is created, for removal by the guard. */
  static void guardContainer(GenericContainer<?> container) {
    ServerFiles.write(Holder.DIRECTORY.resolve("containers"), List.of());
    container.withLabel(LABEL, Holder.DIRECTORY.toString());
  }

  private static final class Holder {

    private static final Path DIRECTORY = create();

    /** Never released: its garbage collection might close the guard's standard input. */
    @SuppressWarnings("unused")
    private static final Process GUARDING = guard(DIRECTORY);
  }

  private static Path create() {
    String parent = System.getProperty("seckill.test.folder", System.getProperty("java.io.tmpdir"));
    try {
      return Files.createTempDirectory(Path.of(parent), "seckill-test-");
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot create a directory for the test servers", e);
    }
  }

  /**
   * Uses setsid, so that Ctrl-C at the terminal does not end the guard before it has run. Neither
   * does {@code scripts/test}, which ends what has its mark: a Redis server, which overwrites its
   * environment, does not.
   */
  private static Process guard(Path directory) {
    try {
      ProcessBuilder guard =
          new ProcessBuilder("setsid", "sh", "-c", GUARD, directory.toString(), LABEL)
              .redirectOutput(Redirect.DISCARD)
              .redirectError(Redirect.DISCARD);
      guard.environment().remove("SECKILL_TEST_RUN");
      return guard.start();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot start the guard of the test servers", e);
    }
  }
}
