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
 * A service's jar as its own tool unpacks it, which saves a quarter of the processor time of a
 * start and costs a tenth of one; and an archive of the classes that its start loads (class data
 * sharing), which saves another quarter. The tests of the proof start services a hundred times.
 */
public final class UnpackedService {

  /** Starts that save together the processor time that an archive costs. */
  private static final int WORTH_AN_ARCHIVE = 8;

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
   * Arguments for java in place of {@code -jar <jar>}, for one more process. The first caller of a
   * build unpacks the jar. A JVM that starts many processes creates the archive, which takes some
   * seconds; from then on all callers use it, and until then others wait for it.
   */
  public static List<String> arguments(Path jar) {
    AtomicInteger asked = ASKED.computeIfAbsent(jar, any -> new AtomicInteger());
    boolean isWorthIt = asked.incrementAndGet() > WORTH_AN_ARCHIVE;
    Path folder = jar.resolveSibling("unpacked");
    boolean hasArchive;
    synchronized (LOCKS.computeIfAbsent(jar, any -> new Object())) {
      hasArchive = prepareAlone(jar, folder, isWorthIt);
    }
    List<String> arguments = new ArrayList<>();
    if (hasArchive) {
      arguments.add("-XX:SharedArchiveFile=" + archive(folder));
    }
    arguments.addAll(List.of("-jar", folder.resolve(jar.getFileName()).toString()));
    return arguments;
  }

  private static Path archive(Path folder) {
    return folder.resolve("classes.jsa");
  }

  /** All builds of one version give a jar the same time. */
  private static long checksum(Path jar) throws IOException {
    CRC32C sum = new CRC32C();
    try (InputStream content = new CheckedInputStream(Files.newInputStream(jar), sum)) {
      content.transferTo(OutputStream.nullOutputStream());
    }
    return sum.getValue();
  }

  /**
   * Of one jar, this runs in one thread of this JVM and in one JVM of the build at a time. Returns
   * whether there is an archive.
   */
  private static boolean prepareAlone(Path jar, Path folder, boolean archives) {
    Path lock = jar.resolveSibling("unpacked.lock");
    Path unpacked = jar.resolveSibling("unpacked.from");
    Path archived = jar.resolveSibling("archived.from");
    try (FileChannel channel =
        FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      var unused = channel.lock(); // until the channel is closed
      String from = checksum(jar) + " for Java " + Runtime.version();
      if (!isOf(unpacked, from)) {
        Files.deleteIfExists(archived);
        Files.deleteIfExists(unpacked);
        delete(folder);
        unpack(jar, folder);
        Files.writeString(unpacked, from);
      }
      if (archives && !isOf(archived, from)) {
        train(folder, folder.resolve(jar.getFileName()));
        Files.writeString(archived, from);
      }
      return isOf(archived, from);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isOf(Path made, String from) throws IOException {
    return Files.exists(made) && Files.readString(made).equals(from);
  }

  private static void unpack(Path jar, Path folder) {
    List<String> command = new ArrayList<>(List.of(java(), "-XX:+UseSerialGC"));
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(List.of("-Djarmode=tools", "-jar", jar.toString()));
    command.addAll(List.of("extract", "--destination", folder.toString()));
    Commands.run(command, Map.of());
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
