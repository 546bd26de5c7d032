package io.seckill.system.faults;

import static io.seckill.testing.Eventually.eventually;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Faults at random times, planned from a seed only; the plan does not depend on a clock. */
public final class RandomSchedule {

  private static final int SHORTEST_PAUSE_MS = 150;
  private static final int LONGEST_PAUSE_MS = 1_800;
  private static final int SHORTEST_MS = 200;
  private static final int LONGEST_MS = 6_000;
  private static final long STEP_LIMIT_SECONDS = 300;

  private final List<Event> events;

  /** A fault with its begin and end, both relative to the start of the schedule. */
  public record Event(Duration from, Duration until, Fault fault) {

    @Override
    public String toString() {
      return "%6.2f s .. %6.2f s  %s: %s"
          .formatted(
              from.toMillis() / 1000.0, until.toMillis() / 1000.0, fault.target(), fault.name());
    }
  }

  /** Polls for the effects of faults that have begun, until each is observed; thread-safe. */
  private static final class EffectWatch implements AutoCloseable {

    private static final int THREADS = 4;
    private static final long LOOK_MS = 50;
    private static final Duration LAST_LOOKS = Duration.ofSeconds(5);

    private final Consumer<Event> seen;
    private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(THREADS);
    private final Map<Event, BooleanSupplier> unseen = new ConcurrentHashMap<>();

    EffectWatch(Consumer<Event> seen) {
      this.seen = seen;
    }

    /** Checks immediately, before the fault can have ended, and then periodically. */
    void add(Event event, BooleanSupplier effect) {
      unseen.put(event, effect);
      look(event);
    }

    private void look(Event event) {
      if (isSeen(unseen.get(event))) {
        unseen.remove(event);
        seen.accept(event);
      } else {
        var unused = threads.schedule(() -> look(event), LOOK_MS, TimeUnit.MILLISECONDS);
      }
    }

    /** A check that fails because of another fault is repeated. */
    private static boolean isSeen(@Nullable BooleanSupplier effect) {
      try {
        return effect != null && effect.getAsBoolean();
      } catch (RuntimeException e) {
        return false;
      }
    }

    /** Returns the faults without an observed effect some seconds after the end of all faults. */
    List<Event> unseen() {
      long end = System.nanoTime() + LAST_LOOKS.toNanos();
      eventually().until(() -> unseen.isEmpty() || System.nanoTime() - end > 0);
      return List.copyOf(unseen.keySet());
    }

    @Override
    public void close() {
      threads.shutdownNow();
    }
  }

  private RandomSchedule(List<Event> events) {
    this.events = events;
  }

  /** Prints a line of what was planned and seen, by which a red seed is understood. */
  public static void say(String line) {
    System.out.println("[chaos] " + line);
  }

  public static RandomSchedule plan(Random random, List<Fault> choice, Duration length) {
    List<Event> events = new ArrayList<>();
    Map<String, Duration> busyUntil = new HashMap<>();
    Duration now = Duration.ofMillis(SHORTEST_PAUSE_MS);
    while (now.compareTo(length) < 0) {
      // Drawn before it is known whether the target is free, so that only the seed matters.
      Fault fault = choice.get(random.nextInt(choice.size()));
      Duration until = now.plusMillis(between(random, SHORTEST_MS, LONGEST_MS));
      if (busyUntil.getOrDefault(fault.target(), Duration.ZERO).compareTo(now) <= 0) {
        events.add(new Event(now, until, fault));
        busyUntil.put(fault.target(), until.plus(fault.recovery()));
      }
      now = now.plusMillis(between(random, SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS));
    }
    return new RandomSchedule(events);
  }

  private static int between(Random random, int least, int most) {
    return least + random.nextInt(most - least);
  }

  public List<Event> events() {
    return events;
  }

  /**
   * Executes the schedule and returns when every fault has ended. Each target has its own thread,
   * so that a fault that begins or ends late, as on a busy machine, never overlaps the next fault
   * of its target.
   *
   * @param seen called for each fault when its effect has been observed
   * @return faults without an observed effect, such as bytes lost on a link that carried none
   * @throws IllegalStateException when a fault could not be begun or ended; says which and why
   */
  public List<Event> run(Consumer<Event> seen) throws InterruptedException {
    Map<String, ScheduledExecutorService> threads = new HashMap<>();
    try (EffectWatch watch = new EffectWatch(seen)) {
      List<Future<?>> steps = new ArrayList<>();
      for (Event event : events) {
        ScheduledExecutorService thread =
            threads.computeIfAbsent(
                event.fault().target(), target -> Executors.newScheduledThreadPool(1));
        steps.add(at(event.from(), thread, () -> begin(event, watch)));
        steps.add(at(event.until(), thread, () -> end(event)));
      }
      for (Future<?> step : steps) {
        await(step);
      }
      return watch.unseen();
    } finally {
      threads.values().forEach(ExecutorService::shutdownNow);
    }
  }

  private static Future<?> at(Duration time, ScheduledExecutorService thread, Runnable step) {
    return thread.schedule(step, time.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static void begin(Event event, EffectWatch watch) {
    attempt("begin", event, () -> watch.add(event, event.fault().begin().get()));
  }

  private static void end(Event event) {
    attempt("end", event, event.fault().end());
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
      throw new IllegalStateException("fault does not end", e);
    }
  }
}
