package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Users;
import io.seckill.bench.lab.Waiting;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** Buys one unit after the other, and keeps the longest time in which nobody would sell one. */
final class SteadyShopper implements AutoCloseable {

  private static final Duration PAUSE = Duration.ofMillis(5);
  private static final int MOST = 1_000_000;

  private final Lab lab;
  private final long sku;
  private final Users users;
  private final CompletableFuture<Void> buying;
  private long lastNanos = System.nanoTime();
  private long longestNanos;
  private long bought;
  private boolean closed;

  private SteadyShopper(Lab lab, long sku) {
    this.lab = lab;
    this.sku = sku;
    this.users = lab.newUsers(MOST);
    this.buying = CompletableFuture.runAsync(this::buy);
  }

  /** Returns when the first unit is bought. */
  static SteadyShopper start(Lab lab, long sku) {
    SteadyShopper shopper = new SteadyShopper(lab, sku);
    shopper.awaitNext();
    return shopper;
  }

  private void buy() {
    for (int i = 0; i < MOST && !isClosed(); i++) {
      long user = users.id(i);
      if (isBought(user)) {
        take();
      }
      Waiting.pass(PAUSE);
    }
  }

  private boolean isBought(long user) {
    try {
      var answer = lab.pipeline().shop().buyAsync(user, sku, 1, "steady-" + user);
      return answer.orTimeout(1, TimeUnit.MINUTES).join().status() / 100 == 2;
    } catch (CompletionException e) {
      return false; // no answer
    }
  }

  private synchronized boolean isClosed() {
    return closed;
  }

  private synchronized void take() {
    long now = System.nanoTime();
    longestNanos = Math.max(longestNanos, now - lastNanos);
    lastNanos = now;
    bought++;
  }

  private synchronized long bought() {
    return bought;
  }

  /** Waits until another unit is bought. */
  private void awaitNext() {
    long before = bought();
    Waiting.until("a purchase", PAUSE, () -> bought() > before);
  }

  /** Returns the longest time between two purchases since the last call, in milliseconds. */
  double longestPauseMs() {
    awaitNext();
    synchronized (this) {
      double longest = longestNanos / 1e6;
      longestNanos = 0;
      return longest;
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    buying.orTimeout(1, TimeUnit.MINUTES).join();
  }
}
