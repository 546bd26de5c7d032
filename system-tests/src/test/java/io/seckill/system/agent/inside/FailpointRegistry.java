package io.seckill.system.agent.inside;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The points of this process and what is to happen at each. Thread-safe; cheap while unarmed. */
public final class FailpointRegistry {

  /** What kill -9 looks like to the parent, without its signal. */
  private static final int KILLED = 137;

  private static final Map<String, Armed> ARMED = new ConcurrentHashMap<>();

  private FailpointRegistry() {}

  /** What an armed point does when it is reached for the n-th time, once. */
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

  /** Lets who waits at the point go on, and disarms it. */
  static void release(String name) {
    @Nullable Armed armed = ARMED.remove(name);
    if (armed != null) {
      armed.released.countDown();
    }
  }

  /** Called by the advice, on whatever thread runs the method. */
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

  /** An interrupt does not end the pause: to the test the thread is stuck. */
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
