package io.seckill.testing;

import java.util.List;
import java.util.stream.Stream;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.mysql.MySQLContainer;

/** mysql:9 with the configuration of {@link MariaDbProcess}, as options of the command. */
final class MySqlImage implements ServerImage {

  static final String IMAGE = "mysql:9";

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
    return new MySQLContainer(IMAGE)
        .withUsername("root")
        .withPassword(MySqlServer.ROOT_PASSWORD)
        .withCommand(
            Stream.concat(MariaDbProcess.defaults().stream(), lines.stream())
                .map(line -> "--" + line)
                .toArray(String[]::new));
  }
}
