package io.seckill.system.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Mischief at random times, planned from a seed alone; what is done and when depends on no clock.
 */
final class RandomSchedule {

  private static final int SHORTEST_PAUSE_MS = 150;
  private static final int LONGEST_PAUSE_MS = 1_800;
  private static final int SHORTEST_MS = 200;
  private static final int LONGEST_MS = 6_000;
  private static final long STEP_LIMIT_SECONDS = 300;

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
   * Does all of it and returns when everything has ended. Each target has a thread of its own, so
   * that what begins or ends late, as on a busy machine, never meets the next mischief of its
   * target.
   *
   * @param done told of each mischief once it has begun
   * @throws IllegalStateException when a mischief could not be begun or ended; says which and why
   */
  void run(Consumer<Event> done) throws InterruptedException {
    Map<String, ScheduledExecutorService> threads = new HashMap<>();
    try {
      List<Future<?>> steps = new ArrayList<>();
      for (Event event : events) {
        ScheduledExecutorService thread =
            threads.computeIfAbsent(
                event.mischief().target(), target -> Executors.newScheduledThreadPool(1));
        steps.add(at(event.from(), thread, () -> begin(event, done)));
        steps.add(at(event.until(), thread, () -> end(event)));
      }
      for (Future<?> step : steps) {
        await(step);
      }
    } finally {
      threads.values().forEach(ExecutorService::shutdownNow);
    }
  }

  private static Future<?> at(Duration time, ScheduledExecutorService thread, Runnable step) {
    return thread.schedule(step, time.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static void begin(Event event, Consumer<Event> done) {
    attempt("begin", event, event.mischief().begin());
    done.accept(event);
  }

  private static void end(Event event) {
    attempt("end", event, event.mischief().end());
  }

  private static void attempt(String what, Event event, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException e) {
      throw new IllegalStateException("cannot " + what + " " + event + ": " + e, e);
    }
  }

  private static void await(Future<?> step) throws InterruptedException {
    try {
      step.get(STEP_LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause().getMessage(), e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException("mischief does not end", e);
    }
  }
}
