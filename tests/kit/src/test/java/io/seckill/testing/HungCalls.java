package io.seckill.testing;

import java.util.concurrent.Semaphore;

/** Calls that hang until this is closed, as reads of a socket do: no interrupt ends them. */
public final class HungCalls implements AutoCloseable {

  private final Semaphore closed = new Semaphore(0);

  /** Hangs, then returns true. */
  public boolean call() {
    closed.acquireUninterruptibly();
    closed.release();
    return true;
  }

  @Override
  public void close() {
    closed.release();
  }
}
