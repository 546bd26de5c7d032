package io.seckill.bench.lab;

import io.seckill.testing.Bounded;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * What the machine does, read from {@code /proc} every {@value #EVERY_MS} ms: for a period, how
 * much of the time each {@link Use} took. Of threads, those of the processes that this JVM started.
 */
public final class MachineWatch implements AutoCloseable {

  private static final int EVERY_MS = 100;
  private static final int STEAL = 8;
  private static final int DISK_BUSY_MS = 12;
  private static final int DISK_FLUSH_MS = 19;

  /** In nanoseconds per nanosecond. */
  public enum Use {
    /** Threads that could run and waited for a core. */
    WAITING_FOR_A_CORE("threads that wait for a core"),
    /** Of one core. */
    JIT("JIT, of one core"),
    /** Of one core. */
    GC("garbage collectors, of one core"),
    /** Of all cores, taken by the host. */
    STEAL_TIME("steal, of one core"),
    DISK("the disk is busy"),
    /** May exceed 1: flushes wait at the same time. */
    FLUSH("flushes of the disk under way");

    public final String title;

    Use(String title) {
      this.title = title;
    }
  }

  /** Totals since the start of the machine, or of the threads, in ns. */
  record Sample(long micros, Map<Use, Long> nanos) {}

  private final LongSupplier clock;
  private final List<Sample> samples = new ArrayList<>();
  private final CountDownLatch end = new CountDownLatch(1);
  private final Thread thread = new Thread(this::run, "machine-watch");

  private MachineWatch(LongSupplier clock) {
    this.clock = clock;
    thread.setDaemon(true);
  }

  /**
   * @param clock in µs
   */
  public static MachineWatch start(LongSupplier clock) {
    MachineWatch watch = new MachineWatch(clock);
    watch.thread.start();
    return watch;
  }

  private void run() {
    try {
      do {
        samples.add(new Sample(clock.getAsLong(), read()));
      } while (!end.await(EVERY_MS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    end.countDown();
    Bounded.join(thread);
  }

  /** Ends the watch: the mean of a use over periods, each from one time of the clock to another. */
  public double mean(Use use, List<long[]> periods) {
    close();
    return periods.stream().mapToDouble(p -> share(samples, use, p[0], p[1])).average().orElse(0);
  }

  static double share(List<Sample> samples, Use use, long from, long to) {
    double nanos = 0;
    double micros = 0;
    for (int i = 1; i < samples.size(); i++) {
      Sample before = samples.get(i - 1);
      Sample after = samples.get(i);
      long overlap = Math.min(to, after.micros) - Math.max(from, before.micros);
      if (overlap > 0) {
        double part = overlap / (double) (after.micros - before.micros);
        nanos += part * Math.max(0, after.nanos.get(use) - before.nanos.get(use));
        micros += overlap;
      }
    }
    return micros == 0 ? 0 : nanos / 1e3 / micros;
  }

  private static Map<Use, Long> read() {
    Map<Use, Long> totals = new EnumMap<>(Use.class);
    for (Use use : Use.values()) {
      totals.put(use, 0L);
    }
    ProcessHandle.current().descendants().forEach(process -> addThreads(totals, process.pid()));
    String[] cpu = text(Path.of("/proc/stat")).lines().findFirst().orElse("").split(" +", -1);
    if (cpu.length > STEAL) {
      totals.put(Use.STEAL_TIME, CpuTimes.TICK_MICROS * 1_000L * Long.parseLong(cpu[STEAL]));
    }
    text(Path.of("/proc/diskstats"))
        .lines()
        .forEach(line -> addDisk(totals, line.strip().split(" +", -1)));
    return totals;
  }

  private static void addThreads(Map<Use, Long> totals, long pid) {
    try (Stream<Path> tasks = Files.list(Path.of("/proc", "" + pid, "task"))) {
      tasks.forEach(
          task -> {
            String[] times = text(task.resolve("schedstat")).strip().split(" ", -1);
            if (times.length > 1) {
              totals.merge(Use.WAITING_FOR_A_CORE, Long.parseLong(times[1]), Long::sum);
              String name = text(task.resolve("comm"));
              if (name.contains("CompilerThre")) {
                totals.merge(Use.JIT, Long.parseLong(times[0]), Long::sum);
              } else if (name.startsWith("GC Thread") || name.startsWith("G1 ")) {
                totals.merge(Use.GC, Long.parseLong(times[0]), Long::sum);
              }
            }
          });
    } catch (IOException e) {
      // the process has ended
    }
  }

  /** Whole disks only: a partition counts the same requests again. */
  private static void addDisk(Map<Use, Long> totals, String[] fields) {
    if (fields.length > DISK_FLUSH_MS && Files.exists(Path.of("/sys/block", fields[2], "device"))) {
      long ms = TimeUnit.MILLISECONDS.toNanos(1);
      totals.merge(Use.DISK, ms * Long.parseLong(fields[DISK_BUSY_MS]), Long::sum);
      totals.merge(Use.FLUSH, ms * Long.parseLong(fields[DISK_FLUSH_MS]), Long::sum);
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return ""; // the thread has ended
    }
  }
}
