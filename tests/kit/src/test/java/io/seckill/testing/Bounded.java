package io.seckill.testing;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;

/**
 * Waits for what threads and processes of a test do, at most {@link Eventually#SOON}: a test whose
 * subject hangs fails, and says where.
 */
public final class Bounded {

  private static final long LIMIT_MS = Eventually.SOON.toMillis();

  private Bounded() {}

  /**
   * The result of a future.
   *
   * @throws CompletionException with the cause, when it failed
   */
  public static <T> T get(Future<T> future) {
    try {
      return future.get(LIMIT_MS, MILLISECONDS);
    } catch (ExecutionException e) {
      throw new CompletionException(e.getCause());
    } catch (TimeoutException e) {
      throw new AssertionError("no result of " + future, e);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** Waits for a latch to be opened. */
  public static void await(CountDownLatch latch) {
    try {
      if (!latch.await(LIMIT_MS, MILLISECONDS)) {
        throw new AssertionError("nobody opened " + latch);
      }
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  /** Waits for the end of a thread. */
  public static void join(Thread thread) {
    try {
      thread.join(LIMIT_MS);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
    if (thread.isAlive()) {
      throw new AssertionError(thread + " does not end");
    }
  }

  /**
   * Waits for the end of a process, which is killed when it does not end; returns its exit code.
   */
  public static int waitFor(Process process) {
    try {
      if (!process.waitFor(LIMIT_MS, MILLISECONDS)) {
        process.destroyForcibly();
        throw new AssertionError(process + " does not end");
      }
      return process.exitValue();
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private static IllegalStateException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new IllegalStateException("interrupted while waiting", e);
  }
}
