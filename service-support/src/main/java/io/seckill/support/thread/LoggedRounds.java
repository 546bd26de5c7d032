package io.seckill.support.thread;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a task that is repeated. No round throws: the first of several that fail alike is logged,
 * and the first one that works again. An exception of the JDK, or an Error, is a defect and logged
 * with its stack; those of libraries say that a server is away. For one thread.
 */
public final class LoggedRounds implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(LoggedRounds.class);

  private final String name;
  private final Runnable task;
  private @Nullable Class<?> failure;

  public LoggedRounds(String name, Runnable task) {
    this.name = name;
    this.task = task;
  }

  @Override
  public void run() {
    try {
      task.run();
      if (failure != null) {
        log.info("{} works again", name);
        failure = null;
      }
    } catch (RuntimeException | Error e) {
      if (!e.getClass().equals(failure)) {
        report(e);
        failure = e.getClass();
      }
    }
  }

  private void report(Throwable e) {
    if (e.getClass().getName().startsWith("java.")) {
      log.error("{} fails and is repeated", name, e);
    } else {
      log.warn("{} fails and is repeated: {}", name, e.toString());
    }
  }
}
