package io.seckill.testing;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;

/**
 * Files of the servers: configuration, logs, directories. Exceptions are unchecked, because a
 * failure ends the test.
 */
final class ServerFiles {

  private static final int TAIL_BYTES = 4_000;

  private ServerFiles() {}

  static void write(Path file, List<String> lines) {
    try {
      Files.write(file, lines, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write " + file, e);
    }
  }

  /** Returns the last lines, about 4 000 bytes; empty when there is no file. */
  static String tail(Path file) {
    try (RandomAccessFile log = new RandomAccessFile(file.toFile(), "r")) {
      log.seek(Math.max(0, log.length() - TAIL_BYTES));
      byte[] end = new byte[TAIL_BYTES];
      int length = log.read(end);
      return length <= 0 ? "" : new String(end, 0, length, StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "";
    }
  }

  static void createDirectories(Path directory) {
    try {
      Files.createDirectories(directory);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot create " + directory, e);
    }
  }

  /** Does nothing when there is no such directory. */
  static void deleteTree(Path directory) {
    if (!Files.exists(directory)) {
      return;
    }
    try (var files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot delete " + directory, e);
    }
  }
}
