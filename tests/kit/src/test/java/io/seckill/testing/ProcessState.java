package io.seckill.testing;

import static io.seckill.testing.Eventually.eventually;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** The state of a process as Linux reports it. */
public final class ProcessState {

  private static final Duration POLL = Duration.ofMillis(5);

  private ProcessState() {}

  /**
   * Whether SIGSTOP has stopped all threads of the process; false when the process has ended. The
   * kernel gives the signal to one thread, which stops the others: on a busy machine they run on
   * for a while.
   */
  public static boolean isStopped(long pid) {
    try (DirectoryStream<Path> threads =
        Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
      for (Path thread : threads) {
        if (!fields(thread).startsWith("T")) {
          return false;
        }
      }
      return true;
    } catch (IOException | DirectoryIteratorException e) { // a thread has ended
      return false;
    }
  }

  /** Returns when SIGSTOP, sent before, has stopped all threads of the process or it has ended. */
  public static void awaitStopped(ProcessHandle process) {
    eventually("process " + process.pid() + " to stop")
        .pollInterval(POLL)
        .until(() -> hasEnded(process) || isStopped(process.pid()));
  }

  /**
   * Whether the process has ended; also one whose parent does not ask for that, as the first
   * process of a container may not. The main thread may end before others, which have files and
   * ports until they end, too.
   */
  static boolean hasEnded(ProcessHandle process) {
    try {
      String[] stat = fields(Path.of("/proc", Long.toString(process.pid()))).split(" ", 19);
      return (stat[0].equals("Z") && Integer.parseInt(stat[17]) <= 1) || !process.isAlive();
    } catch (IOException e) {
      return !process.isAlive();
    }
  }

  /** Id of the group to which the process belongs; 0 when the process has ended. */
  static long group(long pid) {
    try {
      return Long.parseLong(fields(Path.of("/proc", Long.toString(pid))).split(" ", 4)[2]);
    } catch (IOException e) {
      return 0;
    }
  }

  /** What follows the name, which may contain spaces: state, parent, group; 18th the threads. */
  private static String fields(Path folder) throws IOException {
    String stat = Files.readString(folder.resolve("stat"));
    return stat.substring(stat.lastIndexOf(')') + 2);
  }
}
