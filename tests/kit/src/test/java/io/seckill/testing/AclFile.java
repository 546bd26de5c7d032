package io.seckill.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The users of a Redis ACL file; its lines have the same form as the user lines of redis.conf. */
final class AclFile {

  private AclFile() {}

  /**
   * @return the lines that define users, without blanks and comments
   */
  static List<String> asConfiguration(Path file) {
    try (var lines = Files.lines(file)) {
      return lines.map(String::strip).filter(line -> line.startsWith("user ")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read the ACL file " + file, e);
    }
  }
}
