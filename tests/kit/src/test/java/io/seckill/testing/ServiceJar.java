package io.seckill.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipInputStream;

/** Reads our files in the executable jar of a service, as Spring Boot packages it. */
public final class ServiceJar {

  /** Where the service's own classes and resources are. */
  public static final String CLASSES = "BOOT-INF/classes/";

  /** The library that relays and gateways share. */
  private static final String LANES = "BOOT-INF/lib/relay-lanes-";

  private ServiceJar() {}

  /**
   * Returns a file of the service itself or of the lanes' library, or empty if neither has it.
   *
   * @param path below the root of the class path
   */
  public static Optional<byte[]> file(ZipFile jar, String path) {
    ZipEntry own = jar.getEntry(CLASSES + path);
    try {
      if (own != null) {
        return Optional.of(jar.getInputStream(own).readAllBytes());
      }
      for (ZipEntry library : libraries(jar)) {
        Optional<byte[]> found = inLibrary(jar.getInputStream(library), path);
        if (found.isPresent()) {
          return found;
        }
      }
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<? extends ZipEntry> libraries(ZipFile jar) {
    return jar.stream().filter(entry -> entry.getName().startsWith(LANES)).toList();
  }

  private static Optional<byte[]> inLibrary(InputStream library, String path) throws IOException {
    try (ZipInputStream files = new ZipInputStream(library)) {
      for (ZipEntry file = files.getNextEntry(); file != null; file = files.getNextEntry()) {
        if (file.getName().equals(path)) {
          return Optional.of(files.readAllBytes());
        }
      }
    }
    return Optional.empty();
  }
}
