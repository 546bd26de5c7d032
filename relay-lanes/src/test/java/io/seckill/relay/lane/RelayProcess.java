package io.seckill.relay.lane;

import io.seckill.testing.CleanEnvironment;
import io.seckill.testing.UnpackedService;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A relay in a process of its own. */
public final class RelayProcess implements AutoCloseable {

  private final Process process;

  private RelayProcess(Process process) {
    this.process = process;
  }

  /** The classes of the jar that is shipped, with a free port. */
  public static RelayProcess jar(Map<String, String> environment) throws IOException {
    Path jar =
        Path.of(System.getProperty("seckill.root"), "relay-service/target/relay-service.jar");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m"));
    command.addAll(UnpackedService.arguments(jar));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(new File("target/relay-process.log")));
    CleanEnvironment.give(builder, environment);
    return new RelayProcess(builder.start());
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
