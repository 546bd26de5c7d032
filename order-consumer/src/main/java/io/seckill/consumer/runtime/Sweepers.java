package io.seckill.consumer.runtime;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.stereotype.Component;

/** Runs all sweepers, one thread for each, so that one that hangs delays no other. */
@Component
final class Sweepers implements SmartLifecycle {

  private static final Duration LONGEST_STOP = Duration.ofSeconds(3);

  private final List<Sweeper> sweepers;
  private volatile @Nullable ThreadPoolTaskScheduler threads;

  Sweepers(List<Sweeper> sweepers) {
    this.sweepers = sweepers;
  }

  /** Stopped after the intake, which is in the last phase. */
  @Override
  public int getPhase() {
    return DEFAULT_PHASE - 1;
  }

  @Override
  public void start() {
    ThreadPoolTaskScheduler started = new ThreadPoolTaskScheduler();
    started.setPoolSize(sweepers.size());
    started.setThreadNamePrefix("sweeper-");
    started.setAwaitTerminationMillis(LONGEST_STOP.toMillis());
    started.initialize();
    for (Sweeper sweeper : sweepers) {
      var unused =
          started.schedule(
              sweeper::round, ended -> started.getClock().instant().plus(sweeper.pause()));
    }
    threads = started;
  }

  /** Interrupts all rounds, ends all pauses, and then waits for all together, at most 3 s. */
  @Override
  public void stop() {
    ThreadPoolTaskScheduler stopping = threads;
    threads = null;
    if (stopping != null) {
      stopping.shutdown();
    }
  }

  @Override
  public boolean isRunning() {
    return threads != null;
  }
}
