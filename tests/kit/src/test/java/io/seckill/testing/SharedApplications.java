package io.seckill.testing;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Applications that tests share and leave running. They stop when the JVM does, or at the end of
 * the run of a mutant that started them, which no other test can use.
 */
public final class SharedApplications {

  private static final Deque<Runnable> STOPS = new ArrayDeque<>();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stopAllBut(0), "stop-applications"));
  }

  private SharedApplications() {}

  /** Adds what stops an application that is about to start. */
  public static synchronized void add(Runnable stop) {
    STOPS.push(stop);
  }

  public static synchronized int count() {
    return STOPS.size();
  }

  /** Stops the applications that were added after the first ones, the last one first. */
  public static synchronized void stopAllBut(int first) {
    while (STOPS.size() > first) {
      STOPS.pop().run();
    }
  }
}
