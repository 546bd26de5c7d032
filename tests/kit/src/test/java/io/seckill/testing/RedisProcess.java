package io.seckill.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** redis-server without persistence, unless the given lines enable it. */
final class RedisProcess implements ServerProgram {

  private final List<String> lines;

  RedisProcess(List<String> lines) {
    this.lines = lines;
  }

  @Override
  public String name() {
    return "redis";
  }

  @Override
  public List<Integer> servicePorts() {
    return List.of(RedisServer.SERVICE_PORT);
  }

  /**
   * Redis writes to the first file when a client or Sentinel calls CONFIG REWRITE: its role, users
   * and all settings. The given lines follow, and win; users may be defined only once.
   */
  @Override
  public void prepare(Path home, Ports ports) {
    Map<Boolean, List<String>> byUser =
        lines.stream().collect(Collectors.partitioningBy(line -> line.startsWith("user ")));
    Path rewritten = home.resolve("redis.conf");
    if (!Files.exists(rewritten)) {
      ServerFiles.write(rewritten, byUser.get(true));
    }
    List<String> configuration =
        new ArrayList<>(
            List.of(
                "bind 127.0.0.1",
                "port " + ports.of(RedisServer.SERVICE_PORT),
                "dir " + home.resolve("data")));
    configuration.addAll(defaults());
    configuration.addAll(byUser.get(false));
    ServerFiles.write(home.resolve("settings.conf"), configuration);
  }

  /** Settings that the container uses too. */
  static List<String> defaults() {
    return List.of("databases " + RedisServer.DATABASES, "save \"\"", "appendonly no");
  }

  @Override
  public List<String> command(Path home) {
    return List.of(
        Programs.find("redis-server", "redis-server"),
        home.resolve("redis.conf").toString(),
        "--include",
        home.resolve("settings.conf").toString());
  }

  @Override
  public Map<String, String> environment(Path home, Ports ports) {
    return Map.of();
  }
}
