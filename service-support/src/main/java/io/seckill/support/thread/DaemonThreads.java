package io.seckill.support.thread;

import java.util.concurrent.ThreadFactory;

/** Makes threads that do not keep the process alive. */
public final class DaemonThreads {

  private DaemonThreads() {}

  public static ThreadFactory named(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }
}
