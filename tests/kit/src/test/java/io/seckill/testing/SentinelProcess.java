package io.seckill.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** redis-server as a Sentinel. */
final class SentinelProcess implements ServerProgram {

  private final List<String> lines;

  SentinelProcess(List<String> lines) {
    this.lines = lines;
  }

  @Override
  public String name() {
    return "sentinel";
  }

  @Override
  public List<Integer> servicePorts() {
    return List.of(RedisServer.SERVICE_PORT);
  }

  /** Only before the first start: Sentinel stores its state in its configuration file. */
  @Override
  public void prepare(Path home, Ports ports) {
    Path file = home.resolve("sentinel.conf");
    if (Files.exists(file)) {
      return;
    }
    List<String> configuration =
        new ArrayList<>(
            List.of(
                "bind 127.0.0.1",
                "port " + ports.of(RedisServer.SERVICE_PORT),
                "dir " + home.resolve("data")));
    configuration.addAll(lines);
    ServerFiles.write(file, configuration);
  }

  @Override
  public List<String> command(Path home) {
    return List.of(
        Programs.find("redis-server", "redis-server"),
        home.resolve("sentinel.conf").toString(),
        "--sentinel");
  }

  @Override
  public Map<String, String> environment(Path home, Ports ports) {
    return Map.of();
  }
}
