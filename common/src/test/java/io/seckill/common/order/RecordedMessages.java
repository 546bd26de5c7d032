package io.seckill.common.order;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Messages of releases, byte for byte, as files beside this class. */
public final class RecordedMessages {

  private RecordedMessages() {}

  /**
   * @param name of the file
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
