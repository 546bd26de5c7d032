package io.seckill.testing;

import java.util.List;
import java.util.Optional;

/** Where test servers run; chosen by the system property {@code seckill.test.servers}. */
interface Backend {

  /**
   * @throws IllegalArgumentException when the property has another value than processes or
   *     containers
   */
  static Backend current() {
    String name = System.getProperty("seckill.test.servers", "processes");
    return switch (name) {
      case "processes" -> new ProcessBackend();
      case "containers" -> new ContainerBackend();
      default ->
          throw new IllegalArgumentException(
              "seckill.test.servers is processes or containers, not " + name);
    };
  }

  /**
   * Returns why no server can be started here, as one sentence; tests are then skipped. Empty when
   * servers can be started.
   */
  Optional<String> missing();

  /**
   * @param lines lines of redis.conf
   */
  Machine redis(List<String> lines);

  /**
   * @param lines lines of rabbitmq.conf
   */
  Machine rabbit(List<String> lines);

  /**
   * @param lines lines of the section [mysqld]
   */
  Machine mysql(List<String> lines);
}
