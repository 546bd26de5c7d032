package io.seckill.relay.recovery;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * The pauses of one thread, which a stop ends. Those after failures grow, and are jittered so that
 * lanes do not all retry at the same time. Only {@link #stop} and {@link #isStopped} are for any
 * thread.
 */
public final class Backoff {

  private final CountDownLatch stop = new CountDownLatch(1);
  private final long firstMs;
  private final long longestMs;
  private long nextMs;

  public Backoff(Duration first, Duration longest) {
    this.firstMs = first.toMillis();
    this.longestMs = longest.toMillis();
    this.nextMs = firstMs;
  }

  /** Pauses after a failure, longer at each call, until a stop at most. */
  public void pause() throws InterruptedException {
    pause(next());
  }

  /** Pauses for a given time, until a stop at most. */
  public void pause(Duration wait) throws InterruptedException {
    stop.await(wait.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Returns the next pause: random between half and whole of first, 2 × first, ... longest. */
  Duration next() {
    long wait = nextMs / 2 + ThreadLocalRandom.current().nextLong(nextMs / 2 + 1);
    nextMs = Math.min(nextMs * 2, longestMs);
    return Duration.ofMillis(wait);
  }

  /** Starts again with the first pause, after a successful attempt. */
  public void reset() {
    nextMs = firstMs;
  }

  /** Ends the current pause and every later one at once. */
  public void stop() {
    stop.countDown();
  }

  public boolean isStopped() {
    return stop.getCount() == 0;
  }
}
