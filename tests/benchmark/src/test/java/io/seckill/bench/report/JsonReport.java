package io.seckill.bench.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import tools.jackson.databind.json.JsonMapper;

/** The reports for other programs. */
public final class JsonReport {

  /** The flat keys of report.json; always all of them, null when not measured. */
  static final List<String> KEYS =
      List.of(
          "admission.accepted_per_s",
          "admission.refused_per_s",
          "admission.p99_ms",
          "admission.ratio_redis",
          "admission.ratio_http",
          "admission.refused_ratio_http",
          "admission.many_skus_ratio",
          "admission.ratio_obvious",
          "status.ratio_http",
          "gateway.first_seconds_ratio",
          "relay.orders_per_s",
          "relay.ratio_perftest",
          "relay.million_ratio_perftest",
          "relay.lane_ratio_perftest",
          "relay.ratio_one_by_one",
          "relay.idle_p99_ms",
          "consumer.orders_per_s",
          "consumer.ratio_jdbc",
          "consumer.ratio_one_by_one",
          "e2e.sustained_per_s",
          "e2e.cpu_us_per_order",
          "e2e.click_to_row_p50_ms",
          "e2e.click_to_row_p99_ms",
          "e2e.click_to_row_p99_busy_ms",
          "e2e.lost",
          "stored.pipeline_per_s",
          "stored.ratio_strong",
          "stored.64_cpu_ratio_ceilings",
          "stored.256_cpu_ratio_ceilings",
          "burst.seconds",
          "burst.lost",
          "burst.oversold",
          "reconciliation.cpu_us_per_order",
          "expiry.cpu_us_per_order",
          "payment.cpu_us_per_order",
          "idle.cpu_percent",
          "redis.bytes_per_order");

  /** Keys that are the quotient of two figures. */
  private static final Map<String, List<String>> RATIOS =
      Map.ofEntries(
          ratio("admission.ratio_redis", "admission.accepted_per_s", "redis.evalsha_per_s"),
          ratio("admission.ratio_http", "admission.accepted_per_s", "http.plain_per_s"),
          ratio("admission.refused_ratio_http", "admission.refused_per_s", "http.plain_per_s"),
          ratio(
              "admission.many_skus_ratio",
              "admission.accepted_20_skus_per_s",
              "admission.accepted_per_s"),
          ratio("admission.ratio_obvious", "admission.accepted_per_s", "admission.obvious_per_s"),
          ratio("status.ratio_http", "admission.polls_per_s", "http.plain_per_s"),
          ratio("gateway.first_seconds_ratio", "gateway.first_seconds_per_s", "gateway.warm_per_s"),
          ratio("relay.ratio_perftest", "relay.orders_per_s", "perftest.published_per_s"),
          ratio(
              "relay.million_ratio_perftest",
              "relay.million_orders_per_s",
              "perftest.million_published_per_s"),
          ratio(
              "relay.lane_ratio_perftest",
              "relay.one_lane_orders_per_s",
              "perftest.one_published_per_s"),
          ratio("relay.ratio_one_by_one", "relay.orders_per_s", "relay.one_by_one_per_s"),
          ratio(
              "stored.ratio_strong",
              "stored.queued_256_stored_per_s",
              "stored.strong_256_stored_per_s"),
          ratio(
              "stored.64_cpu_ratio_ceilings", "stored.queued_64_cpu_us", "stored.ceilings_cpu_us"),
          ratio(
              "stored.256_cpu_ratio_ceilings",
              "stored.queued_256_cpu_us",
              "stored.ceilings_cpu_us"),
          ratio("consumer.ratio_jdbc", "consumer.orders_per_s", "jdbc.batches_per_s"),
          ratio("consumer.ratio_one_by_one", "consumer.orders_per_s", "consumer.one_by_one_per_s"));

  /** Keys of figures that are recorded under another name. */
  private static final Map<String, String> SAME_AS =
      Map.of(
          "e2e.cpu_us_per_order",
          CpuCost.total("e2e.sustained_per_s"),
          "stored.pipeline_per_s",
          "stored.queued_256_stored_per_s",
          "reconciliation.cpu_us_per_order",
          CpuCost.total("reconciliation.orders"),
          "expiry.cpu_us_per_order",
          CpuCost.total("expiry.orders"),
          "payment.cpu_us_per_order",
          CpuCost.total("payment.orders"));

  private static final JsonMapper JSON = JsonMapper.shared();

  private JsonReport() {}

  /** Returns the medians under the flat keys. */
  public static String flat(Figures figures) {
    Map<String, Object> report = new LinkedHashMap<>();
    for (String key : KEYS) {
      OptionalDouble value = value(key, figures);
      report.put(key, value.isPresent() ? rounded(value.getAsDouble()) : null);
    }
    return write(report);
  }

  /**
   * Returns every figure with median, minimum, maximum and number of repeats, and a description of
   * the machine.
   */
  public static String detailed(Figures figures, Map<String, String> machine) {
    Map<String, Object> measured = new LinkedHashMap<>();
    figures.all().forEach((key, samples) -> measured.put(key, summary(samples)));
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("machine", machine);
    report.put("figures", measured);
    return write(report);
  }

  private static OptionalDouble value(String key, Figures figures) {
    List<String> quotient = RATIOS.get(key);
    return quotient == null
        ? figures.median(SAME_AS.getOrDefault(key, key))
        : figures.ratio(quotient.get(0), quotient.get(1));
  }

  private static Map.Entry<String, List<String>> ratio(String key, String of, String to) {
    return Map.entry(key, List.of(of, to));
  }

  private static Map<String, Object> summary(Samples samples) {
    Map<String, Object> summary = new LinkedHashMap<>();
    summary.put("median", rounded(samples.median()));
    summary.put("min", rounded(samples.min()));
    summary.put("max", rounded(samples.max()));
    summary.put("repeats", samples.count());
    return summary;
  }

  /** Returns a whole number if the value is whole or large, else three decimals. */
  private static Number rounded(double value) {
    if (Math.abs(value) >= 100 || value == Math.rint(value)) {
      return Math.round(value);
    }
    return Math.rint(value * 1000) / 1000;
  }

  private static String write(Map<String, Object> report) {
    return JSON.writerWithDefaultPrettyPrinter().writeValueAsString(report) + "\n";
  }
}
