package io.seckill.system.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Mischief at random times, planned from a seed alone; what is done and when depends on no clock.
 */
final class RandomSchedule {

  private static final int THREADS = 6;
  private static final int SHORTEST_PAUSE_MS = 150;
  private static final int LONGEST_PAUSE_MS = 1_800;
  private static final int SHORTEST_MS = 200;
  private static final int LONGEST_MS = 6_000;
  private static final long END_LIMIT_SECONDS = 120;

  private final List<Event> events;

  /** A mischief from one moment to another, both counted from the start. */
  record Event(Duration from, Duration until, Mischief mischief) {

    @Override
    public String toString() {
      return "%6.2f s .. %6.2f s  %s: %s"
          .formatted(
              from.toMillis() / 1000.0,
              until.toMillis() / 1000.0,
              mischief.target(),
              mischief.name());
    }
  }

  private RandomSchedule(List<Event> events) {
    this.events = events;
  }

  static RandomSchedule plan(Random random, List<Mischief> choice, Duration length) {
    List<Event> events = new ArrayList<>();
    Map<String, Duration> busyUntil = new HashMap<>();
    Duration now = Duration.ofMillis(SHORTEST_PAUSE_MS);
    while (now.compareTo(length) < 0) {
      // Drawn before it is known whether the target is free, so that the seed alone decides.
      Mischief mischief = choice.get(random.nextInt(choice.size()));
      Duration until = now.plusMillis(between(random, SHORTEST_MS, LONGEST_MS));
      if (busyUntil.getOrDefault(mischief.target(), Duration.ZERO).compareTo(now) <= 0) {
        events.add(new Event(now, until, mischief));
        busyUntil.put(mischief.target(), until.plus(mischief.recovery()));
      }
      now = now.plusMillis(between(random, SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS));
    }
    return new RandomSchedule(events);
  }

  private static int between(Random random, int least, int most) {
    return least + random.nextInt(most - least);
  }

  List<Event> events() {
    return events;
  }

  /**
   * Does all of it and returns when everything has ended.
   *
   * @param done told of each mischief once it has begun
   */
  void run(Consumer<Event> done) throws InterruptedException {
    ScheduledExecutorService threads = Executors.newScheduledThreadPool(THREADS);
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (Event event : events) {
        Future<?> begun =
            threads.schedule(
                () -> begin(event, done), event.from().toMillis(), TimeUnit.MILLISECONDS);
        ends.add(
            threads.schedule(
                () -> end(event, begun), event.until().toMillis(), TimeUnit.MILLISECONDS));
      }
      for (Future<?> end : ends) {
        await(end);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static void begin(Event event, Consumer<Event> done) {
    event.mischief().begin().run();
    done.accept(event);
  }

  /** Not before the beginning, which may take its time. */
  private static void end(Event event, Future<?> begun) {
    try {
      await(begun);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    event.mischief().end().run();
  }

  private static void await(Future<?> work) throws InterruptedException {
    try {
      work.get(END_LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException("mischief failed", e.getCause());
    } catch (java.util.concurrent.TimeoutException e) {
      throw new IllegalStateException("mischief does not end", e);
    }
  }
}
