package io.seckill.bench.yardstick;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Sale;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What Redis itself can do: the admission script, one purchase a call, by redis-benchmark. */
public final class RedisBenchmark {

  private static final Pattern RATE = Pattern.compile("([0-9.]+) requests per second");
  private static final int CLIENTS = 50;

  /** Twelve digits in the place of each, another number each time. */
  private static final String RANDOM = "__rand_int__";

  private static final int RANDOM_BELOW = 2_000_000_000;

  private RedisBenchmark() {}

  /**
   * @param sale with stock for all calls
   * @param calls in all
   * @param pipelined calls that each client sends at once
   * @return calls per second
   */
  public static double admitsPerSecond(Lab lab, Sale sale, int calls, int pipelined)
      throws IOException, InterruptedException {
    AdmitScript script = AdmitScript.loadInto(lab.redis());
    List<String> command =
        new ArrayList<>(
            List.of(
                "redis-benchmark",
                "-p",
                "" + lab.redisServer().port(),
                "-c",
                "" + CLIENTS,
                "-P",
                "" + pipelined,
                "-n",
                "" + calls,
                "-r",
                "" + RANDOM_BELOW,
                "-q",
                "EVALSHA",
                script.sha(),
                "1"));
    command.addAll(
        script.callOf(
            sale.partition(),
            "" + sale.skuId(),
            RANDOM,
            "bench-0000000-0000-0000-" + RANDOM,
            "2511173" + RANDOM));
    return lastRate(Programs.output(command));
  }

  static double lastRate(String said) {
    Matcher found = RATE.matcher(said);
    double rate = Double.NaN;
    while (found.find()) {
      rate = Double.parseDouble(found.group(1));
    }
    if (Double.isNaN(rate)) {
      throw new IllegalStateException("redis-benchmark said no rate: " + said);
    }
    return rate;
  }
}
