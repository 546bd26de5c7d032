package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.MachineWatch;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.bench.stage.OrderSteps.Order;
import io.seckill.bench.stage.OrderSteps.Step;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import redis.clients.jedis.Jedis;

/**
 * Where the p99 of click to row comes from: the steps of the slowest orders and of those in the
 * middle, observed from outside, and what the machine did meanwhile. A load without the observation
 * shows what that costs.
 */
final class Slowest implements Stage {

  private static final int PER_SECOND = 1_000;
  private static final int WARM_UP_PER_SECOND = 3_000;
  private static final Duration LOOK = Duration.ofMillis(50);
  private static final String P99 = "slowest.unobserved_p99_ms";
  private static final String OBSERVED_P99 = "slowest.observed_p99_ms";
  private static final String UNOBSERVED = "slowest.incomplete";

  @Override
  public String name() {
    return "slowest";
  }

  @Override
  public boolean isOnRequest() {
    return true;
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.values());
    lab.progress().now("slowest orders: warming up");
    ClickToRow.at(lab, figures, WARM_UP_PER_SECOND, lab.settings().choose(12, 5));
    for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
      int seconds = lab.settings().choose(30, 6);
      figures.add(P99, ClickToRow.at(lab, figures, PER_SECOND, seconds).rowMs(99));
      observe(lab, figures, seconds);
    }
  }

  private static void observe(Lab lab, Figures figures, int seconds) throws Exception {
    LongSupplier clock = clock();
    OrderSteps steps = new OrderSteps();
    Jedis redis = new Jedis(lab.redisServer().host(), lab.redisServer().port());
    try (MachineWatch machine = MachineWatch.start(clock)) {
      try (RedisCommands commands = RedisCommands.watch(redis)) {
        StepsOfRows rows = new StepsOfRows(steps, clock);
        figures.add(OBSERVED_P99, ClickToRow.at(lab, figures, PER_SECOND, seconds, rows).rowMs(99));
        Outbox outbox = new Outbox(lab.redis());
        Waiting.until("the last confirms", LOOK, () -> outbox.waiting() == 0);
        commands.addTo(steps);
      }
      report(figures, steps, machine);
    }
  }

  /** In µs, as the clock of the stores, and as steady as System.nanoTime. */
  private static LongSupplier clock() {
    Instant now = Instant.now();
    long micros =
        TimeUnit.SECONDS.toMicros(now.getEpochSecond())
            + now.getNano() / 1_000
            - System.nanoTime() / 1_000;
    return () -> micros + System.nanoTime() / 1_000;
  }

  private static void report(Figures figures, OrderSteps steps, MachineWatch machine) {
    figures.count(UNOBSERVED, steps.incomplete());
    List<Order> orders = steps.slowestFirst();
    for (Group group : Group.values()) {
      List<Order> some = group.of(orders);
      figures.add(group.total(), some.stream().mapToLong(Order::total).average().orElse(0) / 1e3);
      for (Step step : Group.STEPS) {
        figures.add(group.key(step), OrderSteps.meanMs(some, step));
      }
      List<long[]> periods =
          some.stream().map(o -> new long[] {o.at(Step.DUE), o.at(Step.VISIBLE)}).toList();
      for (MachineWatch.Use use : MachineWatch.Use.values()) {
        figures.add(group.key(use), machine.mean(use, periods));
      }
    }
  }

  @Override
  public List<Row> rows() {
    List<Row> rows = new ArrayList<>();
    rows.add(
        new Row(
            "click to row at 1 000/s, observed: p99",
            OBSERVED_P99,
            List.of(new Against("without the observation", P99))));
    rows.add(row("from click to row", Group.SLOWEST.total(), Group.MEDIAN.total()));
    for (Step step : Group.STEPS) {
      String title = step.since().title + " to " + step.title;
      rows.add(row(title, Group.SLOWEST.key(step), Group.MEDIAN.key(step)));
    }
    for (MachineWatch.Use use : MachineWatch.Use.values()) {
      rows.add(row(use.title, Group.SLOWEST.key(use), Group.MEDIAN.key(use)));
    }
    rows.add(Row.of("slowest orders: incomplete observations", UNOBSERVED));
    return rows;
  }

  private static Row row(String title, String slowest, String median) {
    return new Row("slowest 1 %: " + title, slowest, List.of(new Against("median orders", median)));
  }

  /** The orders that are compared. */
  private enum Group {
    SLOWEST(0, 0.01),
    MEDIAN(0.495, 0.505);

    /** Without the first. */
    static final List<Step> STEPS = List.of(Step.values()).subList(1, Step.values().length);

    private final double from;
    private final double to;

    Group(double from, double to) {
      this.from = from;
      this.to = to;
    }

    List<Order> of(List<Order> slowestFirst) {
      int size = slowestFirst.size();
      return slowestFirst.subList((int) (size * from), (int) Math.ceil(size * to));
    }

    String total() {
      return key("total") + "_ms";
    }

    String key(Step step) {
      return key(step.name()) + "_ms";
    }

    String key(MachineWatch.Use use) {
      return key(use.name());
    }

    private String key(String name) {
      return ("slowest." + (this == MEDIAN ? "median_" : "") + name).toLowerCase(Locale.ROOT);
    }
  }
}
