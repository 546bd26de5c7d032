package io.seckill.testing;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One server for all tests of the JVM, started by the first call.
 *
 * <p>The guard of {@link RunDirectory} ends it after the JVM has ended. Applications that tests
 * leave open stop in shutdown hooks of the JVM, later than any callback of JUnit, and need their
 * servers until then.
 */
final class SharedServer<T extends TestServer> {

  private final Supplier<T> start;
  private @Nullable T server;
  private @Nullable ServerStartException failure;

  SharedServer(Supplier<T> start) {
    this.start = start;
  }

  /**
   * @throws ServerStartException when it could not be started; the start is tried once only,
   *     because otherwise every test would wait again
   */
  synchronized T get() {
    if (failure != null) {
      throw failure;
    }
    if (server == null) {
      server = started();
    }
    return server;
  }

  private T started() {
    try {
      return start.get();
    } catch (ServerStartException e) {
      failure = e;
      throw e;
    }
  }
}
