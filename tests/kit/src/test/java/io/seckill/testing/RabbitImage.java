package io.seckill.testing;

import java.util.ArrayList;
import java.util.List;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.images.builder.Transferable;
import org.testcontainers.rabbitmq.RabbitMQContainer;

/** rabbitmq:4-management with the configuration of {@link RabbitProcess}. */
final class RabbitImage implements ServerImage {

  static final String IMAGE = "rabbitmq:4-management";

  private final List<String> lines;

  RabbitImage(List<String> lines) {
    this.lines = lines;
  }

  @Override
  public String name() {
    return "rabbitmq";
  }

  @Override
  public List<Integer> servicePorts() {
    return List.of(
        RabbitServer.SERVICE_PORT, RabbitServer.MANAGEMENT_PORT, RabbitServer.METRICS_PORT);
  }

  /** The image writes its own files in conf.d; a file with a later name overrides them. */
  @Override
  public GenericContainer<?> newContainer() {
    List<String> configuration = new ArrayList<>(RabbitProcess.defaults());
    configuration.addAll(lines);
    return new RabbitMQContainer(IMAGE)
        .withAdminUser(RabbitServer.USER)
        .withAdminPassword(RabbitServer.PASSWORD)
        .withCopyToContainer(file(configuration), "/etc/rabbitmq/conf.d/90-test.conf")
        .withCopyToContainer(
            file(RabbitProcess.advancedDefaults()), "/etc/rabbitmq/advanced.config");
  }

  private static Transferable file(List<String> lines) {
    return Transferable.of(String.join("\n", lines) + "\n");
  }
}
