package io.seckill.testing;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import java.util.zip.CheckedInputStream;

/**
 * A service's jar as its own tool unpacks it, with an archive of the classes that its start loads
 * (class data sharing). Tests start services a hundred times, and the archive saves a third to a
 * half of the processor time of each start.
 */
public final class UnpackedService {

  /** Starts that save together the processor time that an archive costs. */
  private static final int WORTH_AN_ARCHIVE = 6;

  private static final long TRAINING_SECONDS = 60;

  /** A start that needs no server and ends before it serves; how far it gets does not matter. */
  private static final List<String> TRAINING =
      List.of(
          "-Dspring.context.exit=onRefresh",
          "-Dspring.flyway.enabled=false",
          "-Dspring.datasource.hikari.connection-timeout=250",
          "-Dspring.jpa.properties.hibernate.boot.allow_jdbc_metadata_access=false",
          "-Dspring.jpa.properties.hibernate.dialect=org.hibernate.dialect.MySQLDialect");

  private static final Map<String, String> NOBODY_THERE =
      Map.of(
          "SECKILL_REDIS_URL", "redis://127.0.0.1:1/0",
          "SECKILL_BROKER_URLS", "amqp://nobody:none@127.0.0.1:1/none",
          "SECKILL_CONSUMER_URL", "http://127.0.0.1:1",
          "SECKILL_INTERNAL_TOKEN", "token-of-a-training-run-0123456789",
          "SECKILL_SECURITY_HS256_SECRET", "secret-of-a-training-run-0123456789",
          "SECKILL_DEMO_ENABLED", "true",
          "SECKILL_DEMO_EXPOSED", "true",
          "SPRING_DATASOURCE_URL", "jdbc:mysql://127.0.0.1:1/none?useAffectedRows=true",
          "SPRING_DATASOURCE_USERNAME", "nobody",
          "SPRING_DATASOURCE_PASSWORD", "none");

  private static final Map<Path, Object> LOCKS = new ConcurrentHashMap<>();
  private static final Map<Path, AtomicInteger> ASKED = new ConcurrentHashMap<>();

  private UnpackedService() {}

  /**
   * Arguments for java in place of {@code -jar <jar>}, for one more process. The first of this JVM
   * run the jar itself. The next caller of a build unpacks it and creates the archive, which takes
   * some seconds; other callers wait for it.
   */
  public static List<String> arguments(Path jar) {
    AtomicInteger asked = ASKED.computeIfAbsent(jar, any -> new AtomicInteger());
    if (asked.incrementAndGet() <= WORTH_AN_ARCHIVE) {
      return List.of("-jar", jar.toString());
    }
    Path folder = jar.resolveSibling("unpacked");
    prepare(jar, folder);
    return List.of(
        "-XX:SharedArchiveFile=" + archive(folder),
        "-jar",
        folder.resolve(jar.getFileName()).toString());
  }

  private static Path archive(Path folder) {
    return folder.resolve("classes.jsa");
  }

  /** Of one jar, this runs in one thread of this JVM and in one JVM of the build at a time. */
  private static void prepare(Path jar, Path folder) {
    synchronized (LOCKS.computeIfAbsent(jar, any -> new Object())) {
      prepareAlone(jar, folder);
    }
  }

  /** All builds of one version give a jar the same time. */
  private static long checksum(Path jar) throws IOException {
    CRC32C sum = new CRC32C();
    try (InputStream content = new CheckedInputStream(Files.newInputStream(jar), sum)) {
      content.transferTo(OutputStream.nullOutputStream());
    }
    return sum.getValue();
  }

  private static void prepareAlone(Path jar, Path folder) {
    Path lock = jar.resolveSibling("unpacked.lock");
    Path made = jar.resolveSibling("unpacked.from");
    try (FileChannel channel =
        FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      var unused = channel.lock(); // until the channel is closed
      String from = checksum(jar) + " for Java " + Runtime.version();
      if (Files.exists(made) && Files.readString(made).equals(from)) {
        return;
      }
      Files.deleteIfExists(made);
      delete(folder);
      Commands.run(
          List.of(
              java(), "-Djarmode=tools", "-jar", "" + jar, "extract", "--destination", "" + folder),
          Map.of());
      train(folder, folder.resolve(jar.getFileName()));
      Files.writeString(made, from);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void train(Path folder, Path jar) throws IOException {
    List<String> command = new ArrayList<>(List.of(java(), "-Xmx256m", "-XX:+UseSerialGC"));
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-XX:ArchiveClassesAtExit=" + archive(folder));
    command.addAll(TRAINING);
    command.addAll(List.of("-jar", jar.toString()));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    CleanEnvironment.give(builder, NOBODY_THERE);
    builder.redirectOutput(folder.resolve("training.log").toFile());
    Process process = builder.start();
    try {
      if (!process.waitFor(TRAINING_SECONDS, TimeUnit.SECONDS)) {
        process.destroy(); // archives the classes loaded so far
        process.waitFor(TRAINING_SECONDS, TimeUnit.SECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      process.destroyForcibly();
    }
  }

  private static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> files = Files.walk(folder)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static String java() {
    return System.getProperty("java.home") + "/bin/java";
  }
}
