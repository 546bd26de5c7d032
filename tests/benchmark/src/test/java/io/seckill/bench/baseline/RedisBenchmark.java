package io.seckill.bench.baseline;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.report.Figures;
import io.seckill.testing.Bounded;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The ceiling of Redis: redis-benchmark calls the admission script with the largest number of
 * purchases that the gateway puts into one call.
 */
public final class RedisBenchmark {

  private static final Pattern RATE = Pattern.compile("([0-9.]+) requests per second");
  private static final int CLIENTS = 50;

  /** The limit of {@code admit.lua}. */
  private static final int PURCHASES = 64;

  /** redis-benchmark replaces each occurrence by a random number of twelve digits. */
  private static final String RANDOM = "__rand_int__";

  private static final int RANDOM_BELOW = 2_000_000_000;

  private RedisBenchmark() {}

  /**
   * Buys all stock of a sale. Adds purchases per second and the CPU time per purchase.
   *
   * @param sale its stock must be a multiple of 64, and the outboxes empty
   * @throws IllegalStateException when not all of it was sold
   */
  public static void measure(Lab lab, Figures figures, String rateKey, BenchSale sale)
      throws IOException, InterruptedException {
    AdmitScript script = AdmitScript.loadInto(lab.redis());
    long calls = sale.stock() / PURCHASES;
    List<String> command = new ArrayList<>(List.of("redis-benchmark", "-q"));
    command.addAll(List.of("-p", "" + lab.redisServer().port(), "-c", "" + CLIENTS));
    command.addAll(List.of("-n", "" + calls, "-r", "" + RANDOM_BELOW));
    command.addAll(List.of("EVALSHA", script.sha(), "1"));
    command.addAll(script.callOf(sale.partition(), randomPurchases(sale)));
    CpuTimes before = CpuTimes.now();
    double callsPerSecond = lastRate(ProgramRunner.output(command));
    before.addSince(figures, rateKey, sale.stock());
    figures.add(rateKey, callsPerSecond * PURCHASES);
    long admitted = new Outbox(lab.redis()).waiting();
    if (admitted != sale.stock()) {
      throw new IllegalStateException("of " + sale.stock() + " units " + admitted + " were sold");
    }
  }

  private static List<String> randomPurchases(BenchSale sale) {
    List<String> one =
        AdmitScript.purchase(
            "" + sale.skuId(), RANDOM, "bench-0000000-0000-0000-" + RANDOM, "2511173" + RANDOM);
    return Collections.nCopies(PURCHASES, one).stream().flatMap(List::stream).toList();
  }

  static double lastRate(String said) {
    Matcher found = RATE.matcher(said);
    double rate = Double.NaN;
    while (found.find()) {
      rate = Double.parseDouble(found.group(1));
    }
    if (Double.isNaN(rate)) {
      throw new IllegalStateException("redis-benchmark printed no rate:  " + said);
    }
    return rate;
  }

  /** Runs a program to its end. */
  private static final class ProgramRunner {

    private ProgramRunner() {}

    /**
     * @return its output, including standard error
     * @throws IllegalStateException with the output, when the exit code is not 0
     */
    static String output(List<String> command) throws IOException, InterruptedException {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      try {
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (Bounded.waitFor(process) != 0) {
          throw new IllegalStateException(command.get(0) + " failed: " + said);
        }
        return said;
      } finally {
        process.destroyForcibly();
      }
    }
  }
}
