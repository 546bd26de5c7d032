package io.seckill.testing;

import java.util.ArrayList;
import java.util.List;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.builder.Transferable;

/** mysql:9 with the configuration of {@link MariaDbProcess}. */
final class MySqlImage implements ServerImage {

  static final String IMAGE = "mysql:9";
  private static final String CONFIGURATION = "/etc/mysql/conf.d/90-test.cnf";

  private final List<String> lines;

  MySqlImage(List<String> lines) {
    this.lines = lines;
  }

  @Override
  public String name() {
    return "mysql";
  }

  @Override
  public List<Integer> servicePorts() {
    return List.of(MySqlServer.SERVICE_PORT);
  }

  @Override
  public GenericContainer<?> newContainer() {
    List<String> configuration = new ArrayList<>(List.of("[mysqld]"));
    configuration.addAll(MariaDbProcess.defaults());
    configuration.addAll(lines);
    return new GenericContainer<>(IMAGE)
        .withEnv("MYSQL_ROOT_PASSWORD", MySqlServer.ROOT_PASSWORD)
        .withCopyToContainer(
            Transferable.of(String.join("\n", configuration) + "\n"), CONFIGURATION);
  }
}
