package io.seckill.testing;

import static io.seckill.testing.Eventually.SOON;
import static io.seckill.testing.Eventually.eventually;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.core.ConditionTimeoutException;
import org.awaitility.core.TerminalFailureException;

/**
 * A running server and the faults that a test can inject into it.
 *
 * <p>Faults are for servers started by the test itself; a server shared by all tests of the JVM
 * refuses them with an {@link IllegalStateException}. The port stays the same until {@link
 * #close()}, and so does the data unless {@link #wipe()} deletes it.
 */
public abstract sealed class TestServer implements AutoCloseable
    permits RedisServer, RabbitServer, MySqlServer {

  /** Longer than {@link #launch()} waits for a server that is started twice. */
  private static final long LAUNCH_MINUTES = 5;

  private final String name;
  private final Machine machine;
  private final boolean shared;

  TestServer(String name, Machine machine, boolean shared) {
    this.name = name;
    this.machine = machine;
    this.shared = shared;
  }

  /**
   * Sends one real request in the server's protocol; returns when the server is ready for tests,
   * and throws when it is not ready yet.
   */
  abstract void handshake() throws Exception;

  public final String host() {
    return machine.host();
  }

  /** The port of the service itself; it never changes for this object. */
  public abstract int port();

  /** Sends kill -9: connections break and unwritten data is lost. Returns at the process's end. */
  public final void kill() {
    ownServer().kill();
  }

  /** Shuts the server down in order; returns when the process has ended. */
  public final void stop() {
    ownServer().stop();
  }

  /**
   * Starts the server again on the same port and data and returns when it is ready. A running
   * server is first shut down in order.
   */
  public final void restart() {
    ownServer().stop();
    launch();
  }

  /**
   * Suspends the server, like a process after kill -STOP: it keeps its connections and ports but
   * does nothing.
   */
  public final void freeze() {
    ownServer().freeze();
  }

  /** Ends {@link #freeze()}; does nothing to a server that is not frozen. */
  public final void thaw() {
    ownServer().thaw();
  }

  /** Whether the server is frozen by {@link #freeze()}. */
  public final boolean isFrozen() {
    return ownServer().isFrozen();
  }

  /** Kills the server and deletes its data; {@link #restart()} starts it empty on the same port. */
  public final void wipe() {
    ownServer().wipe();
  }

  /** The folder of its data on this machine; empty when the server runs in a container. */
  public final Optional<Path> dataFolder() {
    return ownServer().dataFolder();
  }

  /** Whether the server runs; true also while it is frozen. */
  public final boolean isRunning() {
    return machine.isRunning();
  }

  /** Whether the server runs and is not frozen. */
  final boolean isUp() {
    return isRunning() && !isFrozen();
  }

  /** Thaws a frozen server, and starts again one that has ended. */
  public final void revive() {
    thaw();
    if (!isRunning()) {
      restart();
    }
  }

  /** As {@link #revive()}, of several at the same time. */
  public static void reviveAll(TestServer... servers) {
    List.of(servers).forEach(TestServer::thaw);
    List<TestServer> ended = Stream.of(servers).filter(server -> !server.isRunning()).toList();
    if (!ended.isEmpty()) {
      launchAll(ended);
    }
  }

  /** Kills the server and removes its files. */
  @Override
  public final void close() {
    ownServer().close();
  }

  /**
   * Starts the server and waits until it answers. A server that ends while it starts is started
   * once more, as its systemd unit would do.
   *
   * @throws ServerStartException when it ends again or does not answer; the machine is closed then
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
      throw failed("did not answer within " + SOON.toSeconds() + " s", e);
    }
  }

  /**
   * Starts those that have ended, all at the same time, and waits until each one answers or fails.
   *
   * @throws ServerStartException as {@link #launch()}, for one that fails
   */
  static void launchAll(Collection<? extends TestServer> servers) {
    ExecutorService threads = Executors.newFixedThreadPool(servers.size());
    try {
      CompletableFuture<?>[] launches =
          servers.stream()
              .map(server -> CompletableFuture.runAsync(server::launch, threads))
              .toArray(CompletableFuture<?>[]::new);
      CompletableFuture.allOf(launches).orTimeout(LAUNCH_MINUTES, TimeUnit.MINUTES).join();
    } catch (CompletionException e) {
      throw new ServerStartException("A server of several did not start", e);
    } finally {
      threads.shutdownNow();
    }
  }

  private void awaitFirstAnswer() {
    machine.launch();
    eventually()
        .pollInterval(Duration.ofMillis(50))
        .ignoreExceptions()
        .failFast(() -> !machine.isRunning())
        .until(this::answers);
  }

  /** A look whether anything listens costs far less than the failure of a client. */
  private boolean answers() throws Exception {
    if (!Ports.isOpen(port())) {
      return false;
    }
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
    } catch (UncheckedIOException e) { // a LoopDisk is mounted in its directory
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
