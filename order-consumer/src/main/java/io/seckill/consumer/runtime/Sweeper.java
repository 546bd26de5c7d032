package io.seckill.consumer.runtime;

import io.seckill.support.thread.LoggedRounds;
import java.time.Duration;

/**
 * One task that {@link Sweepers} repeats with a pause in between. A failing round is logged and the
 * next one runs; a stop interrupts the round. The task must be harmless when another process runs
 * it at the same time, and when it is interrupted.
 */
public final class Sweeper {

  private final Duration pause;
  private final LoggedRounds rounds;

  /**
   * @param pause from the end of a round to the start of the next, also before the first
   */
  public Sweeper(String name, Duration pause, Runnable work) {
    this.pause = pause;
    this.rounds = new LoggedRounds(name, work);
  }

  public Duration pause() {
    return pause;
  }

  void round() {
    rounds.run();
  }
}
