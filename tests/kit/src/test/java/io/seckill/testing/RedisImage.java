package io.seckill.testing;

import java.util.ArrayList;
import java.util.List;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.builder.Transferable;

/** redis:8 with the configuration of {@link RedisProcess}. */
final class RedisImage implements ServerImage {

  static final String IMAGE = "redis:8";
  private static final String CONFIGURATION = "/etc/redis-test.conf";

  private final List<String> lines;

  RedisImage(List<String> lines) {
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
  public GenericContainer<?> newContainer() {
    List<String> configuration = new ArrayList<>(List.of("dir /data"));
    configuration.addAll(RedisProcess.defaults());
    configuration.addAll(lines);
    return new GenericContainer<>(IMAGE)
        .withCopyToContainer(Transferable.of(String.join("\n", configuration)), CONFIGURATION)
        .withCommand("redis-server", CONFIGURATION, "--bind", "0.0.0.0", "--protected-mode", "no");
  }
}
