package io.seckill.system.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Where this JVM puts its files, of the several that run test classes at the same time. */
public final class ForkFolder {

  private ForkFolder() {}

  /** {@code target/fork-N}, which exists. */
  public static Path path() {
    String fork = System.getProperty("seckill.test.fork", "fork-1");
    try {
      return Files.createDirectories(Path.of("target", fork).toAbsolutePath());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
