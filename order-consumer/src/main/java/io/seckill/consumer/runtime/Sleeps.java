package io.seckill.consumer.runtime;

import java.util.concurrent.locks.LockSupport;

/** The one place where a thread of this service waits without being signalled. */
public final class Sleeps {

  private Sleeps() {}

  /** Returns after this time, or at once when the thread is interrupted, as a stop does. */
  public static void nanos(long nanos) {
    LockSupport.parkNanos(nanos);
  }
}
