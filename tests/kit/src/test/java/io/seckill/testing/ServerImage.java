package io.seckill.testing;

import java.util.List;
import org.testcontainers.containers.GenericContainer;

/** How one kind of server is run as a container. */
interface ServerImage {

  String name();

  List<Integer> servicePorts();

  /** A container that is not created yet, with the configuration and without ports. */
  GenericContainer<?> newContainer();
}
