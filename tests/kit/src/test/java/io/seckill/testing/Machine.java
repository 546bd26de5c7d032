package io.seckill.testing;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What one server runs on: a child process or a container. It does not know the server's protocol.
 *
 * <p>Ports and data stay the same over {@link #kill()}, {@link #stop()} and the next {@link
 * #launch()}.
 */
interface Machine extends AutoCloseable {

  String host();

  /**
   * @param servicePort the usual port of the service, such as 6379
   * @return the port on which this server is reached
   */
  int port(int servicePort);

  /** The folder of its data on this machine; empty when the data is in a container. */
  Optional<Path> dataFolder();

  /** Starts the server and returns at once, before it answers; does nothing when it runs. */
  void launch();

  boolean isRunning();

  /** Sends kill -9 and waits until all processes of the server have ended, also a frozen one. */
  void kill();

  /** Shuts the server down and waits for its end; kills after 30 s. Thaws a frozen server first. */
  void stop();

  /** Suspends the server: its connections stay open, and it answers nothing. */
  void freeze();

  void thaw();

  boolean isFrozen();

  /** Kills the server and deletes its data; its configuration stays. */
  void wipe();

  /**
   * Runs a command of the server's own tools, such as rabbitmqctl, against it.
   *
   * @return the command's output
   * @throws IllegalStateException with the output, when the exit code is not 0
   */
  String run(List<String> command);

  /** The last lines the server printed. */
  String logTail();

  /** Kills the server and deletes everything that belongs to it. */
  @Override
  void close();
}
