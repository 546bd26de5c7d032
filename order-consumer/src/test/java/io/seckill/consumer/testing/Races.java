package io.seckill.consumer.testing;

import io.seckill.testing.Bounded;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs tasks at the same moment. */
public final class Races {

  private Races() {}

  /**
   * Runs each task in its own thread; returns when all have ended, and throws if one has failed.
   */
  public static void race(List<Runnable> runners) {
    ExecutorService threads = Executors.newFixedThreadPool(runners.size());
    try {
      CountDownLatch start = new CountDownLatch(1);
      List<Future<?>> running = new ArrayList<>();
      for (Runnable runner : runners) {
        running.add(
            threads.submit(
                () -> {
                  Bounded.await(start);
                  runner.run();
                  return null;
                }));
      }
      start.countDown();
      for (Future<?> future : running) {
        Bounded.get(future);
      }
    } catch (Exception e) {
      throw new IllegalStateException("a racer failed", e);
    } finally {
      threads.shutdownNow();
    }
  }
}
