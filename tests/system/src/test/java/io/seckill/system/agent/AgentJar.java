package io.seckill.system.agent;

import io.seckill.system.agent.inside.FaultAgent;
import io.seckill.system.process.ForkFolder;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import net.bytebuddy.ByteBuddy;

/** The agent as a jar under {@code target}, built from the test classes. */
final class AgentJar {

  private AgentJar() {}

  /** Returns the jar; the first call in this JVM builds it. */
  static Path file() {
    return Holder.FILE;
  }

  private static final class Holder {
    private static final Path FILE = build(ForkFolder.path().resolve("seckill-agent.jar"));
  }

  private static Path build(Path file) {
    Path classes = locationOf(FaultAgent.class);
    String folder = FaultAgent.class.getPackageName().replace('.', '/');
    try (OutputStream out = Files.newOutputStream(file);
        JarOutputStream jar = new JarOutputStream(out, manifest())) {
      for (Path source : classFiles(classes.resolve(folder))) {
        jar.putNextEntry(new ZipEntry(folder + '/' + source.getFileName()));
        jar.write(Files.readAllBytes(source));
        jar.closeEntry();
      }
      return file;
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot build " + file, e);
    }
  }

  private static List<Path> classFiles(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.toString().endsWith(".class")).sorted().toList();
    }
  }

  /** ByteBuddy stays in its own jar, which the manifest adds to the class path of the service. */
  private static Manifest manifest() {
    Manifest manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(new Attributes.Name("Agent-Class"), FaultAgent.class.getName());
    attributes.put(new Attributes.Name("Can-Retransform-Classes"), "true");
    attributes.put(Attributes.Name.CLASS_PATH, locationOf(ByteBuddy.class).toUri().toString());
    return manifest;
  }

  private static Path locationOf(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }
}
