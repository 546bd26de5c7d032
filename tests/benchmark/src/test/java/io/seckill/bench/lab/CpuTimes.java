package io.seckill.bench.lab;

import io.seckill.bench.report.CpuCost;
import io.seckill.bench.report.Figures;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * CPU time, user and system, of every process of a run, from {@code /proc}: each with its children,
 * including ended ones. Other processes that this JVM started, such as wrk, count as load
 * generator, like this JVM. Servers in containers are children of a shim of the engine, and no
 * other containers may run.
 */
public final class CpuTimes {

  /** USER_HZ is 100 for programs on Linux, independent of the kernel's timer frequency. */
  static final int TICK_MICROS = 10_000;

  /** Fields of {@code /proc/PID/stat} after the name: user, system, and those of ended children. */
  private static final int FIRST_TIME = 11;

  private static final int TIMES = 4;

  /**
   * A part of the command line of each; in this order, because the baseline's class path contains
   * the services' names too.
   */
  private static final List<Map.Entry<String, CpuCost>> COMMANDS =
      List.of(
          Map.entry("BaselineApplication", CpuCost.BASELINE),
          Map.entry("gateway-service.jar", CpuCost.GATEWAY),
          Map.entry("relay-service.jar", CpuCost.RELAY),
          Map.entry("order-consumer.jar", CpuCost.CONSUMER),
          Map.entry("redis-server", CpuCost.REDIS),
          Map.entry("rabbitmq-server", CpuCost.RABBITMQ),
          Map.entry("beam.smp", CpuCost.RABBITMQ),
          Map.entry("mariadbd", CpuCost.MYSQL),
          Map.entry("mysqld", CpuCost.MYSQL));

  private static final String SHIM = "containerd-shim";

  private final Map<CpuCost, Long> micros = new EnumMap<>(CpuCost.class);

  private CpuTimes() {}

  /** Reads the CPU times used so far. */
  public static CpuTimes now() {
    CpuTimes times = new CpuTimes();
    times.addTree(ProcessHandle.current(), CpuCost.LOAD_GENERATOR);
    ProcessHandle.allProcesses()
        .filter(process -> process.info().command().orElse("").contains(SHIM))
        .flatMap(ProcessHandle::children)
        .forEach(child -> times.addTree(child, costOf(child, CpuCost.LOAD_GENERATOR)));
    return times;
  }

  /** Adds the CPU time used since this reading, per order, to the figures of a rate. */
  public void addSince(Figures figures, String rateKey, long orders) {
    perOrder(orders).addTo(figures, rateKey);
  }

  /** Returns the CPU time used since this reading, per order. */
  public PerOrder perOrder(long orders) {
    CpuTimes now = now();
    Map<CpuCost, Double> each = new EnumMap<>(CpuCost.class);
    for (CpuCost cost : CpuCost.values()) {
      each.put(cost, (now.micros(cost) - micros(cost)) / (double) Math.max(1, orders));
    }
    return new PerOrder(each);
  }

  /** CPU time per order, in µs. */
  public record PerOrder(Map<CpuCost, Double> micros) {

    /** Adds it to the figures of a rate. */
    public void addTo(Figures figures, String rateKey) {
      micros.forEach((cost, each) -> figures.add(cost.key(rateKey), each));
      double load = micros.getOrDefault(CpuCost.LOAD_GENERATOR, 0.0);
      double all = micros.values().stream().mapToDouble(Double::doubleValue).sum();
      figures.add(CpuCost.total(rateKey), all - load);
    }
  }

  /** Returns µs; 0 when no such process runs. */
  public long micros(CpuCost cost) {
    return micros.getOrDefault(cost, 0L);
  }

  /** Children that are not a known process count with their parent. */
  private void addTree(ProcessHandle process, CpuCost cost) {
    try {
      Path folder = Path.of("/proc", "" + process.pid());
      micros.merge(cost, micros(Files.readString(folder.resolve("stat"))), Long::sum);
    } catch (IOException e) {
      // The process has ended; its time is included in its parent's time of ended children.
    }
    process.children().forEach(child -> addTree(child, costOf(child, cost)));
  }

  private static CpuCost costOf(ProcessHandle process, CpuCost ofParent) {
    try {
      Path commandLine = Path.of("/proc", "" + process.pid(), "cmdline");
      String command = Files.readString(commandLine, StandardCharsets.ISO_8859_1);
      return COMMANDS.stream()
          .filter(known -> command.contains(known.getKey()))
          .map(Map.Entry::getValue)
          .findFirst()
          .orElse(ofParent);
    } catch (IOException e) {
      return ofParent;
    }
  }

  /** The program's name is in parentheses and may contain blanks and parentheses. */
  static long micros(String stat) {
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    long ticks = 0;
    for (int i = FIRST_TIME; i < FIRST_TIME + TIMES; i++) {
      ticks += Long.parseLong(fields[i]);
    }
    return ticks * TICK_MICROS;
  }
}
