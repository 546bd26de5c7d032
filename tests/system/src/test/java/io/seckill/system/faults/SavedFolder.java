package io.seckill.system.faults;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;
import redis.clients.jedis.UnifiedJedis;

/**
 * A copy of a folder that can be restored. If Redis appends to its file meanwhile, the copy is what
 * a power loss at that moment would have left.
 */
final class SavedFolder implements AutoCloseable {

  private final Path folder;
  private final Path copy;

  private SavedFolder(Path folder, Path copy) {
    this.folder = folder;
    this.copy = copy;
  }

  private static SavedFolder of(String folder) throws IOException {
    Path copy = Files.createTempDirectory("saved-folder");
    copyTree(Path.of(folder), copy);
    return new SavedFolder(Path.of(folder), copy);
  }

  /** The folder of a Redis; the test is skipped if that is not on this machine. */
  static SavedFolder ofRedis(UnifiedJedis redis) throws IOException {
    String folder = redis.configGet("dir").get("dir");
    assumeThat(Path.of(folder)).as("folder of a Redis on this machine").isDirectory();
    return of(folder);
  }

  /** Replaces the contents of the folder with the copy. */
  void restore() {
    try {
      deleteContents(folder);
      copyTree(copy, folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void copyTree(Path from, Path to) throws IOException {
    try (Stream<Path> paths = Files.walk(from)) {
      for (Path source : paths.filter(path -> !path.equals(from)).toList()) {
        Files.copy(source, to.resolve(from.relativize(source).toString()));
      }
    }
  }

  private static void deleteContents(Path folder) throws IOException {
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path path :
          paths.filter(one -> !one.equals(folder)).sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  @Override
  public void close() throws IOException {
    deleteContents(copy);
    Files.delete(copy);
  }
}
