package io.seckill.testing;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One server for all tests of the JVM, started by the first call.
 *
 * <p>It is left to the guard of {@link RunDirectory}, which ends it after the JVM: applications
 * that tests leave open stop in hooks of the JVM, later than any callback of JUnit, and need their
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
   * @throws ServerStartException when it could not be started; tried once, for every test would
   *     wait again
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
