package io.seckill.testing;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse.ContainerState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assumptions;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.AbstractWaitStrategy;

/**
 * A server in a container of the local engine. This class chooses its ports, because ports that the
 * engine chooses change when a container is started again.
 */
final class ContainerMachine implements Machine {

  private static final int STOP_SECONDS = 30;

  private final ServerImage image;
  private final Ports ports;
  private final Path home;
  private @Nullable GenericContainer<?> container;

  ContainerMachine(ServerImage image) {
    new ContainerBackend().missing().ifPresent(Assumptions::abort);
    this.image = image;
    this.ports = Ports.free(image.servicePorts());
    this.home = RunDirectory.newHome(image.name());
  }

  @Override
  public String host() {
    return "127.0.0.1";
  }

  @Override
  public int port(int servicePort) {
    return ports.of(servicePort);
  }

  @Override
  public Optional<Path> dataFolder() {
    return Optional.empty();
  }

  @Override
  public synchronized void launch() {
    if (container == null) {
      container = create();
      container.start();
    } else if (!isRunning()) {
      docker().startContainerCmd(container.getContainerId()).exec();
    }
  }

  private GenericContainer<?> create() {
    GenericContainer<?> created = image.newContainer();
    created.setPortBindings(image.servicePorts().stream().map(this::binding).toList());
    RunDirectory.guardContainer(created);
    created.waitingFor(new NoWait());
    return created;
  }

  private String binding(int servicePort) {
    return host() + ":" + ports.of(servicePort) + ":" + servicePort;
  }

  @Override
  public synchronized boolean isRunning() {
    return container != null && Boolean.TRUE.equals(state(container).getRunning());
  }

  /** The engine also kills a paused container. */
  @Override
  public synchronized void kill() {
    if (container != null && isRunning()) {
      docker().killContainerCmd(container.getContainerId()).exec();
      docker().waitContainerCmd(container.getContainerId()).start().awaitStatusCode();
    }
  }

  @Override
  public synchronized void stop() {
    thaw();
    if (container != null && isRunning()) {
      docker().stopContainerCmd(container.getContainerId()).withTimeout(STOP_SECONDS).exec();
    }
  }

  @Override
  public synchronized void freeze() {
    if (container != null && !isPaused(container)) {
      docker().pauseContainerCmd(container.getContainerId()).exec();
    }
  }

  @Override
  public synchronized void thaw() {
    if (container != null && isPaused(container)) {
      docker().unpauseContainerCmd(container.getContainerId()).exec();
    }
  }

  @Override
  public synchronized boolean isFrozen() {
    return container != null && isPaused(container);
  }

  /** Removes the container with its data; the next launch creates one on the same ports. */
  @Override
  public synchronized void wipe() {
    if (container != null) {
      container.stop();
      container = null;
    }
  }

  @Override
  public String run(List<String> command) {
    try {
      ExecResult result = started().execInContainer(command.toArray(String[]::new));
      if (result.getExitCode() != 0) {
        throw new IllegalStateException(
            command
                + " ended with "
                + result.getExitCode()
                + ": "
                + result.getStdout()
                + result.getStderr());
      }
      return result.getStdout();
    } catch (IOException e) {
      throw new IllegalStateException("Cannot run " + command, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while running " + command, e);
    }
  }

  @Override
  public synchronized String logTail() {
    String log = container == null ? "" : container.getLogs();
    return log.substring(Math.max(0, log.length() - 4_000));
  }

  @Override
  public synchronized void close() {
    wipe();
    ServerFiles.deleteTree(home);
  }

  private synchronized GenericContainer<?> started() {
    if (container == null) {
      throw new IllegalStateException(image.name() + " is not started");
    }
    return container;
  }

  private static boolean isPaused(GenericContainer<?> container) {
    return Boolean.TRUE.equals(state(container).getPaused());
  }

  private static ContainerState state(GenericContainer<?> container) {
    return docker().inspectContainerCmd(container.getContainerId()).exec().getState();
  }

  private static DockerClient docker() {
    return DockerClientFactory.lazyClient();
  }

  /** Does not wait, because {@link TestServer} itself waits until the server answers. */
  private static final class NoWait extends AbstractWaitStrategy {
    @Override
    protected void waitUntilReady() {
      // nothing: see above
    }
  }
}
