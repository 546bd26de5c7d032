package io.seckill.bench.baseline;

import static io.seckill.testing.Eventually.eventually;

import io.seckill.bench.lab.Lab;
import io.seckill.system.process.Service;
import io.seckill.system.shop.ShopTokens;
import io.seckill.testing.Ports;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;

/**
 * {@link BaselineApplication} in its own JVM, with the flags of the services and the gateway's
 * libraries.
 */
public final class BaselineServer implements AutoCloseable {

  private static final String LIBRARIES = "BOOT-INF/lib/";

  private final String secret = "baseline-" + UUID.randomUUID();
  private final int port = Ports.free();
  private final Process process;

  private BaselineServer(String redisUrl) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(System.getProperty("java.home") + "/bin/java");
    command.addAll(
        Arrays.asList(System.getProperty("seckill.service.flags", "-Xmx512m").split(" ")));
    command.addAll(
        List.of(
            "-cp",
            classPath(),
            "-D" + BaselineApplication.REDIS_URL + "=" + redisUrl,
            "-D" + BaselineApplication.SECRET + "=" + secret,
            "-Dseckill.root=" + System.getProperty("seckill.root"),
            "-Dserver.port=" + port,
            "-Dspring.main.web-application-type=reactive",
            BaselineApplication.class.getName()));
    process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(Path.of("baseline.log").toFile())
            .start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "kill-baseline"));
  }

  /** Starts it with the lab's Redis and waits until it accepts connections. */
  public static BaselineServer start(Lab lab) throws IOException {
    BaselineServer server =
        new BaselineServer("redis://127.0.0.1:" + lab.redisServer().port() + "/0");
    eventually("the baseline application")
        .pollInterval(Duration.ofMillis(100))
        .failFast("it died, see baseline.log", () -> !server.process.isAlive())
        .until(() -> Ports.isOpen(server.port));
    return server;
  }

  public int port() {
    return port;
  }

  /** Returns tokens signed with this server's secret. */
  public ShopTokens tokens() {
    return new ShopTokens(secret);
  }

  /**
   * Returns the part of this class path that is built here or that the gateway also ships. The
   * rest, tools of other tests, changes the HTTP stack: OpenTelemetry enables instrumentation.
   */
  private static String classPath() throws IOException {
    Set<String> shipped = libraries(Service.GATEWAY.jar());
    String root = System.getProperty("seckill.root") + File.separator;
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> entry.startsWith(root) || shipped.contains(new File(entry).getName()))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static Set<String> libraries(Path executableJar) throws IOException {
    try (JarFile jar = new JarFile(executableJar.toFile())) {
      return jar.stream()
          .map(JarEntry::getName)
          .filter(name -> name.startsWith(LIBRARIES))
          .map(name -> name.substring(LIBRARIES.length()))
          .collect(Collectors.toSet());
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
