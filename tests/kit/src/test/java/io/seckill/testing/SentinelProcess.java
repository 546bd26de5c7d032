package io.seckill.testing;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** redis-server as a Sentinel that monitors one master with a quorum of 1. */
final class SentinelProcess implements ServerProgram {

  static final int SERVICE_PORT = 26_379;

  private final String masterName;
  private final RedisServer master;

  SentinelProcess(String masterName, RedisServer master) {
    this.masterName = masterName;
    this.master = master;
  }

  @Override
  public String name() {
    return "sentinel";
  }

  @Override
  public List<Integer> servicePorts() {
    return List.of(SERVICE_PORT);
  }

  /** Sentinel stores its state in its configuration file. */
  @Override
  public void prepare(Path home, Ports ports) {
    ServerFiles.write(
        home.resolve("sentinel.conf"),
        List.of(
            "bind 127.0.0.1",
            "port " + ports.of(SERVICE_PORT),
            "dir " + home.resolve("data"),
            "sentinel monitor %s %s %d 1".formatted(masterName, master.host(), master.port()),
            "sentinel down-after-milliseconds " + masterName + " 2000",
            "sentinel failover-timeout " + masterName + " 5000"));
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
