package io.seckill.bench.baseline;

import io.seckill.testing.Bounded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Counts how many units of work several threads complete in a given time. */
public final class ManyThreads {

  /**
   * The completed work.
   *
   * @param count completed units of work
   */
  public record Result(long count, double perSecond) {}

  /** What one thread does. */
  @FunctionalInterface
  interface Work {

    /** One unit of work; returns false when no work is left. */
    boolean once() throws Exception;

    /** Called after the last unit, on another thread. */
    default void close() throws Exception {}
  }

  /** Creates the work of one thread, with the resources that only this thread uses. */
  @FunctionalInterface
  interface Maker {
    Work of(int thread) throws Exception;
  }

  private ManyThreads() {}

  static Result run(int threads, Duration duration, Maker maker) {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Work> works = new ArrayList<>();
    try {
      for (int thread = 0; thread < threads; thread++) {
        works.add(maker.of(thread));
      }
      long start = System.nanoTime();
      long end = start + duration.toNanos();
      List<Callable<Long>> counters =
          works.stream().map(work -> (Callable<Long>) () -> countUntil(end, work)).toList();
      long done = 0;
      for (Future<Long> count : pool.invokeAll(counters)) {
        done += Bounded.get(count);
      }
      Result result = new Result(done, done * 1e9 / (System.nanoTime() - start));
      for (Work work : works) {
        work.close();
      }
      return result;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    } finally {
      pool.shutdownNow();
    }
  }

  private static long countUntil(long endNanos, Work work) throws Exception {
    long done = 0;
    while (System.nanoTime() < endNanos && work.once()) {
      done++;
    }
    return done;
  }
}
