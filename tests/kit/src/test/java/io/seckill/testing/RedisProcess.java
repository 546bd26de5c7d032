package io.seckill.testing;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

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

  @Override
  public void prepare(Path home, Ports ports) {
    List<String> configuration =
        new ArrayList<>(
            List.of(
                "bind 127.0.0.1",
                "port " + ports.of(RedisServer.SERVICE_PORT),
                "dir " + home.resolve("data")));
    configuration.addAll(defaults());
    configuration.addAll(lines);
    ServerFiles.write(home.resolve("redis.conf"), configuration);
  }

  /** Settings that the container uses too. */
  static List<String> defaults() {
    return List.of("databases " + RedisServer.DATABASES, "save \"\"", "appendonly no");
  }

  @Override
  public List<String> command(Path home) {
    return List.of(
        Programs.find("redis-server", "redis-server"), home.resolve("redis.conf").toString());
  }

  @Override
  public Map<String, String> environment(Path home, Ports ports) {
    return Map.of();
  }
}
