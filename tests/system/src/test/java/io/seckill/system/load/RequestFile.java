package io.seckill.system.load;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongFunction;

/**
 * Requests of equal length, one after the other, for {@link Wrk}. Stored in memory if the system
 * has such a file system, because writing the file to disk would compete with the measured load.
 *
 * @param length bytes of each request
 * @param count requests in the file
 */
public record RequestFile(Path path, int length, long count) implements AutoCloseable {

  private static final Path IN_MEMORY = Path.of("/dev/shm");

  /**
   * Writes the requests 0..count-1.
   *
   * @throws IllegalArgumentException when their lengths differ
   */
  public static RequestFile write(long count, LongFunction<byte[]> requests) throws IOException {
    Path path =
        Files.isWritable(IN_MEMORY)
            ? Files.createTempFile(IN_MEMORY, "seckill-bench-", ".requests")
            : Files.createTempFile("seckill-bench-", ".requests");
    path.toFile().deleteOnExit();
    int length = requests.apply(0).length;
    try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path))) {
      for (long i = 0; i < count; i++) {
        byte[] request = requests.apply(i);
        if (request.length != length) {
          throw new IllegalArgumentException("request " + i + " has another length than the first");
        }
        out.write(request);
      }
    }
    return new RequestFile(path, length, count);
  }

  @Override
  public void close() throws IOException {
    Files.deleteIfExists(path);
  }
}
