package io.seckill.common.order;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Messages as past releases wrote them, byte for byte, in resource files of this package. */
public final class RecordedMessages {

  private RecordedMessages() {}

  /**
   * @param name the file's name
   */
  public static byte[] read(String name) {
    try (InputStream file = RecordedMessages.class.getResourceAsStream(name)) {
      if (file == null) {
        throw new IllegalArgumentException("no recorded message " + name);
      }
      return file.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
