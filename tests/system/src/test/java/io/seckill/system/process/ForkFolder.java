package io.seckill.system.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The folder for the files of this JVM, one of several that may run test classes at the same time.
 */
public final class ForkFolder {

  private ForkFolder() {}

  /** Returns {@code target/fork-N}; creates it if necessary. */
  public static Path path() {
    String fork = System.getProperty("seckill.test.fork", "fork-1");
    try {
      return Files.createDirectories(Path.of("target", fork).toAbsolutePath());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
