package io.seckill.testing.mutation;

import io.seckill.testing.ServiceJar;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/** Writes copies of a service's executable jar with changes to our classes and resources. */
public final class MutantJar {

  /** Comes before the libraries on a service's class path. */
  private static final String CLASSES = ServiceJar.CLASSES;

  private MutantJar() {}

  /**
   * Writes a changed copy and leaves the original unchanged. Adds the target classes of redirected
   * calls.
   *
   * @param original the jar as Spring Boot packages it
   * @throws IllegalArgumentException when one of the edits has nothing to change
   */
  public static void write(Path original, Path copy, List<Mutation> mutations) {
    List<Edit> edits = mutations.stream().flatMap(mutation -> mutation.edits().stream()).toList();
    try (ZipFile jar = new ZipFile(original.toFile())) {
      Map<String, byte[]> files = new HashMap<>(Edit.apply(edits, path -> file(jar, path)));
      for (Edit edit : edits) {
        if (edit instanceof Edit.Call call) {
          String path = Edit.classFile(call.replacement().getName());
          files.put(path, classFile(call.replacement()));
        }
      }
      Files.createDirectories(copy.toAbsolutePath().getParent());
      try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(copy))) {
        copyOthers(jar, files, out);
        for (Map.Entry<String, byte[]> file : files.entrySet()) {
          out.putNextEntry(new ZipEntry(CLASSES + file.getKey()));
          out.write(file.getValue());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + copy, e);
    }
  }

  private static byte[] file(ZipFile jar, String path) {
    return ServiceJar.file(jar, path)
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "there is no " + path + " to change in " + jar.getName()));
  }

  private static byte[] classFile(Class<?> type) throws IOException {
    String path = '/' + Edit.classFile(type.getName());
    try (InputStream in = type.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalArgumentException("no class file of " + type);
      }
      return in.readAllBytes();
    }
  }

  /** Libraries stay uncompressed, because Spring Boot could not open them otherwise. */
  private static void copyOthers(ZipFile jar, Map<String, byte[]> files, ZipOutputStream out)
      throws IOException {
    for (ZipEntry entry : jar.stream().toList()) {
      boolean changed =
          entry.getName().startsWith(CLASSES)
              && files.containsKey(entry.getName().substring(CLASSES.length()));
      if (!changed) {
        ZipEntry same = new ZipEntry(entry);
        if (same.getMethod() == ZipEntry.DEFLATED) {
          same.setCompressedSize(-1); // another zlib may produce another size
        }
        out.putNextEntry(same);
        try (InputStream in = jar.getInputStream(entry)) {
          in.transferTo(out);
        }
      }
    }
  }
}
