package io.seckill.testing;

import static org.awaitility.Awaitility.await;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.awaitility.core.ConditionTimeoutException;
import org.awaitility.core.TerminalFailureException;

/**
 * A running server and the faults that can be done to it.
 *
 * <p>Faults are for servers started by the test itself; a server shared by all tests of the JVM
 * refuses them with an {@link IllegalStateException}. Port and data stay the same until {@link
 * #close()}, unless {@link #wipe()} says otherwise.
 */
public abstract sealed class TestServer implements AutoCloseable
    permits RedisServer, RabbitServer, MySqlServer {

  /** Far above the 10 s a loaded machine needs: only a server that will never answer gets here. */
  private static final Duration READY_WITHIN = Duration.ofMinutes(2);

  private final String name;
  private final Machine machine;
  private final boolean shared;

  TestServer(String name, Machine machine, boolean shared) {
    this.name = name;
    this.machine = machine;
    this.shared = shared;
  }

  /**
   * One real exchange in the server's protocol; returns when the server is ready for tests and
   * throws when it is not yet.
   */
  abstract void handshake() throws Exception;

  public final String host() {
    return machine.host();
  }

  /** The port of the service itself; the same for the life of this object. */
  public abstract int port();

  /** kill -9; connections break, what was not on disk is lost. Returns when the process is gone. */
  public final void kill() {
    ownServer().kill();
  }

  /** An orderly stop; returns when the process is gone. */
  public final void stop() {
    ownServer().stop();
  }

  /**
   * Starts again on the same port and data and returns when it is ready; a running server is
   * stopped orderly before.
   */
  public final void restart() {
    ownServer().stop();
    launch();
  }

  /**
   * The server keeps its connections and ports but does nothing any more, as a process under kill
   * -STOP.
   */
  public final void freeze() {
    ownServer().freeze();
  }

  /** Ends {@link #freeze()}; does nothing to a server that is not frozen. */
  public final void thaw() {
    ownServer().thaw();
  }

  /** Whether {@link #freeze()} is in force. */
  public final boolean isFrozen() {
    return ownServer().isFrozen();
  }

  /**
   * Kills the server and deletes its data; {@link #restart()} brings an empty one to the same port.
   */
  public final void wipe() {
    ownServer().wipe();
  }

  /** Where its data are on this machine; empty when it runs in a container. */
  public final Optional<Path> dataFolder() {
    return ownServer().dataFolder();
  }

  /** True also while it is frozen. */
  public final boolean isRunning() {
    return machine.isRunning();
  }

  /** Kills the server and removes its files. */
  @Override
  public final void close() {
    ownServer().close();
  }

  /**
   * Starts the server and waits until it answers. One that ends while it starts is started once
   * more, as its unit of systemd would do.
   *
   * @throws ServerStartException when it ends again or stays silent; the machine is closed then
   */
  final void launch() {
    try {
      try {
        awaitFirstAnswer();
      } catch (TerminalFailureException e) {
        System.out.println(name + " ended while starting, once:\n" + machine.logTail());
        awaitFirstAnswer();
      }
    } catch (TerminalFailureException e) {
      throw failed("ended while starting", e);
    } catch (ConditionTimeoutException e) {
      throw failed("did not answer within " + READY_WITHIN.toSeconds() + " s", e);
    }
  }

  private void awaitFirstAnswer() {
    machine.launch();
    await()
        .atMost(READY_WITHIN)
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(50))
        .ignoreExceptions()
        .failFast(() -> !machine.isRunning())
        .until(this::answers);
  }

  private boolean answers() throws Exception {
    handshake();
    return true;
  }

  private ServerStartException failed(String what, Exception cause) {
    String log = machine.logTail();
    ServerStartException failure =
        new ServerStartException(
            name + " on " + host() + ":" + port() + " " + what + ". The end of its log:\n" + log,
            cause);
    try {
      machine.close();
    } catch (UncheckedIOException e) { // a disk of its own is mounted under it
      failure.addSuppressed(e);
    }
    return failure;
  }

  private Machine ownServer() {
    if (shared) {
      throw new IllegalStateException(
          "This " + name + " is shared by all tests; start an own one to do this to it");
    }
    return machine;
  }
}
