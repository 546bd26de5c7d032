package io.seckill.testing;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What one server runs on: a child process or a container. It knows nothing of the protocol spoken
 * there.
 *
 * <p>Ports and data stay the same over {@link #kill()}, {@link #stop()} and the next {@link
 * #launch()}.
 */
interface Machine extends AutoCloseable {

  String host();

  /**
   * @param servicePort the usual port of the service, such as 6379
   * @return the port where it is reached here
   */
  int port(int servicePort);

  /** Where its data are on this machine; empty when only the container knows. */
  Optional<Path> dataFolder();

  /** Starts the server and returns at once, before it answers; does nothing when it runs. */
  void launch();

  boolean isRunning();

  /** kill -9, and waits until nothing of the server is left. Also ends a frozen one. */
  void kill();

  /** Asks for an orderly end and waits for it; kills after 30 s. Thaws a frozen server first. */
  void stop();

  /** Stops the clock of the server: connections stay, nothing answers. */
  void freeze();

  void thaw();

  boolean isFrozen();

  /** Kills the server and deletes its data; its configuration stays. */
  void wipe();

  /**
   * Runs a command of the server's own tools, such as rabbitmqctl, against it.
   *
   * @return what it printed
   * @throws IllegalStateException with what it printed, when it ends with another code than 0
   */
  String run(List<String> command);

  /** The last lines the server printed. */
  String logTail();

  /** Kills the server and removes everything of it. */
  @Override
  void close();
}
