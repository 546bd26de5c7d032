package io.seckill.bench.lab;

import io.seckill.bench.report.Figures;
import io.seckill.system.process.Service;
import java.util.EnumMap;
import java.util.Map;

/**
 * How many orders the services handle at once: the costs of a script call, of waking a lane and of
 * a transaction are divided by it.
 */
public final class BatchSizes {

  /** A histogram of a service, and the end of the key of its mean. */
  private enum Step {
    ADMITTED(Service.GATEWAY, "seckill_admission_batch_size", "purchases_per_call"),
    PUBLISHED(Service.RELAY, "seckill_relay_batch_size", "orders_per_publish"),
    STORED(Service.CONSUMER, "seckill_consumer_batch_size", "orders_per_transaction");

    final Service service;
    final String metric;
    final String key;

    Step(Service service, String metric, String key) {
      this.service = service;
      this.metric = metric;
      this.key = key;
    }
  }

  private record Total(double orders, double batches) {}

  private final Lab lab;
  private final Map<Step, Total> before;

  private BatchSizes(Lab lab) {
    this.lab = lab;
    this.before = totals();
  }

  /** Begins to count. */
  public static BatchSizes now(Lab lab) {
    return new BatchSizes(lab);
  }

  /**
   * Adds the mean sizes since then.
   *
   * @param prefix of the keys
   */
  public void addTo(Figures figures, String prefix) {
    totals()
        .forEach(
            (step, now) -> {
              Total then = before.get(step);
              double batches = now.batches() - then.batches();
              if (batches > 0) {
                figures.add(prefix + step.key, (now.orders() - then.orders()) / batches);
              }
            });
  }

  private Map<Step, Total> totals() {
    Map<Step, Total> totals = new EnumMap<>(Step.class);
    for (Step step : Step.values()) {
      totals.put(
          step,
          new Total(
              lab.meter(step.service, step.metric + "_sum"),
              lab.meter(step.service, step.metric + "_count")));
    }
    return totals;
  }
}
