package io.seckill.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;

/** A process, or several of one kind, whose CPU time per order is shown with each rate. */
public enum CpuCost {
  GATEWAY("gateway"),
  REDIS("Redis"),
  RELAY("relay"),
  RABBITMQ("RabbitMQ"),
  CONSUMER("order-consumer"),
  MYSQL("MySQL"),
  /** The baseline gateway, and the one without Redis. */
  BASELINE("baseline"),
  /** Includes the baselines that run in the same JVM. */
  LOAD_GENERATOR("load generator");

  private static final double TOO_LITTLE_TO_SHOW = 0.05;

  private final String title;

  CpuCost(String title) {
    this.title = title;
  }

  /** The key of its CPU time per order, in µs. */
  public String key(String rateKey) {
    return total(rateKey) + "." + title.toLowerCase(Locale.ROOT).replaceAll("[ -]", "_");
  }

  /** The key of the CPU time of all processes except the load generator. */
  public static String total(String rateKey) {
    return rateKey.replaceFirst("_per_s$", "") + "_cpu_us";
  }

  /** Returns the medians of all in one line; empty when they were not measured. */
  static String line(String rateKey, Figures figures) {
    OptionalDouble total = figures.median(total(rateKey));
    if (total.isEmpty()) {
      return "";
    }
    List<String> parts = new ArrayList<>();
    for (CpuCost cost : values()) {
      double each = figures.median(cost.key(rateKey)).orElse(0);
      if (cost != LOAD_GENERATOR && each >= TOO_LITTLE_TO_SHOW) {
        parts.add(cost.title + " " + Numbers.plain(each));
      }
    }
    double load = figures.median(LOAD_GENERATOR.key(rateKey)).orElse(0);
    return "CPU µs each: "
        + String.join(" + ", parts)
        + " = "
        + Numbers.plain(total.getAsDouble())
        + "; "
        + LOAD_GENERATOR.title
        + " "
        + Numbers.plain(load);
  }
}
