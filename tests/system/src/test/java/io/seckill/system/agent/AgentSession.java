package io.seckill.system.agent;

import static org.awaitility.Awaitility.await;

import io.seckill.system.agent.inside.PointAction;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * The connection to the agent of one process, from a start to its end. Commands return when
 * executed.
 */
public final class AgentSession implements AutoCloseable {

  private static final long OBEY_SECONDS = 120;

  private final String name;
  private final Socket socket;
  private final BufferedReader in;
  private final PrintStream out;
  private final Set<String> reached = ConcurrentHashMap.newKeySet();
  private final Semaphore done = new Semaphore(0);

  AgentSession(String name, Socket socket, BufferedReader in, PrintStream out) {
    this.name = name;
    this.socket = socket;
    this.in = in;
    this.out = out;
  }

  /**
   * Arms a failpoint: its action is executed the n-th time that it is reached from now on. Replaces
   * an earlier action.
   *
   * @param nth from 1
   */
  public void arm(String point, PointAction action, int nth) {
    reached.remove(point);
    command("arm " + point + " " + action + " " + nth);
  }

  /** Disarms a failpoint and resumes the threads that are paused there. */
  public void release(String point) {
    command("release " + point);
  }

  /** Whether an armed failpoint has executed its action; stays true after the process has ended. */
  public boolean hasReached(String point) {
    return reached.contains(point);
  }

  /** Waits for {@link #hasReached}. */
  public void awaitReached(String point, Duration limit) {
    await(name + " to reach " + point)
        .atMost(limit)
        .pollInterval(Duration.ofMillis(5))
        .until(() -> hasReached(point));
  }

  /** Shifts the time of day that all code of the process reads; zero restores the system's time. */
  public void shiftClock(Duration shift) {
    command("clock " + shift.toMillis());
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      // It was closed already.
    }
  }

  void listen() {
    Thread thread = new Thread(this::hear, "agent-of-" + name);
    thread.setDaemon(true);
    thread.start();
  }

  private void hear() {
    try {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        if (line.startsWith("reached ")) {
          reached.add(line.substring("reached ".length()));
        } else if (line.equals("done")) {
          done.release();
        }
      }
    } catch (IOException e) {
      close();
    }
  }

  private synchronized void command(String line) {
    out.println(line);
    try {
      if (!done.tryAcquire(OBEY_SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the agent of " + name + " does not answer to: " + line);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
