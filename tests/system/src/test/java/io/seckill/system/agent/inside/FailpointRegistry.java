package io.seckill.system.agent.inside;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The armed failpoints of this process and their actions. Thread-safe; cheap while unarmed. */
public final class FailpointRegistry {

  /** Exit code that the parent sees, as if the process had been ended by kill -9. */
  private static final int KILLED = 137;

  private static final Map<String, Armed> ARMED = new ConcurrentHashMap<>();

  private FailpointRegistry() {}

  /** An armed failpoint; it acts once, when it is reached for the n-th time. */
  private static final class Armed {
    private final PointAction action;
    private final AtomicInteger left;
    private final CountDownLatch released = new CountDownLatch(1);

    Armed(PointAction action, int nth) {
      this.action = action;
      this.left = new AtomicInteger(nth);
    }
  }

  static void arm(String name, PointAction action, int nth) {
    ARMED.put(name, new Armed(action, nth));
  }

  /** Resumes the threads that are paused at the failpoint, and disarms it. */
  static void release(String name) {
    @Nullable Armed armed = ARMED.remove(name);
    if (armed != null) {
      armed.released.countDown();
    }
  }

  /** Called by the advice, on the thread that runs the method. */
  public static void reached(String name) {
    @Nullable Armed armed = ARMED.get(name);
    if (armed != null && armed.left.decrementAndGet() == 0) {
      act(name, armed);
    }
  }

  private static void act(String name, Armed armed) {
    FaultAgent.tell("reached " + name);
    switch (armed.action) {
      case HALT -> Runtime.getRuntime().halt(KILLED);
      case PAUSE -> pause(armed);
      case THROW -> {
        ARMED.remove(name);
        throw new IllegalStateException("thrown at point " + name + ", as a test asked for");
      }
      case ERROR -> {
        ARMED.remove(name);
        throw new LinkageError("an error at point " + name + ", as a test asked for");
      }
    }
  }

  /**
   * Waits for the release; an interrupt does not end the pause, because the thread simulates a
   * stuck one.
   */
  private static void pause(Armed armed) {
    boolean interrupted = false;
    while (true) {
      try {
        armed.released.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
