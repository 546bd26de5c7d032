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
 * The directory of all servers of this JVM, and the guard that ends them with the JVM.
 *
 * <p>Every server has a home below it, with a file {@code pid} while its process group lives. The
 * guard is a shell that waits for the end of its standard input, which the system closes however
 * this JVM ends, kill -9 included. Then it kills the groups that are left, removes the containers
 * that are left, and deletes the directory. A hook of the JVM could not do that.
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

  /** Marks containers of this JVM; its value is the directory. */
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

  /** Makes a container, before it is created, one of those the guard removes. */
  static void guardContainer(GenericContainer<?> container) {
    ServerFiles.write(Holder.DIRECTORY.resolve("containers"), List.of());
    container.withLabel(LABEL, Holder.DIRECTORY.toString());
  }

  private static final class Holder {

    private static final Path DIRECTORY = create();

    /** Held for ever: when it is collected, its end of the guard's standard input may be closed. */
    @SuppressWarnings("unused")
    private static final Process GUARDING = guard(DIRECTORY);
  }

  private static Path create() {
    try {
      return Files.createTempDirectory("seckill-test-");
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot create a directory for the test servers", e);
    }
  }

  /** setsid, so that an interrupt typed at the terminal does not end the guard before its work. */
  private static Process guard(Path directory) {
    try {
      return new ProcessBuilder("setsid", "sh", "-c", GUARD, directory.toString(), LABEL)
          .redirectOutput(Redirect.DISCARD)
          .redirectError(Redirect.DISCARD)
          .start();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot start the guard of the test servers", e);
    }
  }
}
