package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.OrderQueues;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * One SKU without shards, the same in four shards, and four SKUs, in turns: accepted purchases, the
 * relay and order-consumer alone, and all of them together. The shards, like the four SKUs, are in
 * consecutive partitions, so in four queues.
 */
final class StockShards implements Stage {

  private static final String NAME = "shards";
  private static final String LOST = NAME + ".lost";
  private static final int PARTS = 4;
  private static final int CONNECTIONS = 64;
  private static final int MANY = 256;

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public boolean isOnRequest() {
    return true;
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    accepted(lab, figures);
    stored(lab, figures);
    consumer(lab, figures);
    bursts(lab, figures);
    relay(lab, figures);
    lab.runOnly();
    ShardPrimaries.measureAll(lab, figures, LOST);
  }

  private static void bursts(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.values());
    lab.settings()
        .repeatInTurns(
            Stream.of(ShardBurst.values())
                .<Work>map(burst -> () -> burst.measure(lab, figures))
                .toList());
  }

  private static void inTurns(Lab lab, Figures figures, Measured measured) throws Exception {
    long end = System.nanoTime() + lab.settings().warmUp().toNanos();
    do {
      for (Form form : Form.values()) {
        measured.of(form, new Figures());
      }
    } while (System.nanoTime() - end < 0);
    lab.settings()
        .repeatInTurns(
            Stream.of(Form.values()).<Work>map(form -> () -> measured.of(form, figures)).toList());
  }

  private static void accepted(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.CONSUMER, Service.GATEWAY);
    PurchaseLoad load = PurchaseLoad.onGateway(lab);
    Duration run = lab.settings().seconds(6, 3);
    inTurns(
        lab,
        figures,
        (form, into) -> {
          lab.progress().now("shards: accepted, " + form.title);
          List<BenchSale> sales = form.onSale(lab, load.enough(run));
          load.accepted(into, form.key("accepted"), CONNECTIONS, run, sales);
          lab.close(sales); // order-consumer looks at the shards of a sale while it is open
        });
  }

  private static void stored(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.values());
    int count = lab.settings().choose(60_000, 20_000);
    inTurns(
        lab,
        figures,
        (form, into) -> {
          lab.progress().now("shards: end to end, " + form.title);
          List<BenchSale> sales = form.onSale(lab, 2L * count);
          new ClosedLoop(lab, into, LOST).buy(form.key("e2e"), sales, count, MANY);
          lab.close(sales);
        });
  }

  private static void consumer(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.CONSUMER, Service.GATEWAY);
    int count = lab.settings().choose(200_000, 140_000);
    inTurns(
        lab,
        figures,
        (form, into) -> {
          List<BenchSale> ahead = form.onSale(lab, count);
          var unused =
              ConsumerDrain.drain(
                  lab,
                  into,
                  form.key("consumer"),
                  ahead,
                  form.beside(lab, ahead, 2L * count),
                  count);
        });
  }

  private static void relay(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.values());
    Map<Form, List<BenchSale>> sales = new EnumMap<>(Form.class);
    for (Form form : Form.values()) {
      sales.put(form, form.onSale(lab, 1_000L * PARTS * BenchSale.UNITS_PER_USER));
    }
    lab.runOnly(Service.GATEWAY, Service.RELAY);
    try (OrderQueues queues = OrderQueues.open(lab.vhost())) {
      inTurns(
          lab,
          figures,
          (form, into) ->
              RelayDrain.drain(
                  lab,
                  into,
                  queues,
                  LOST,
                  form.key("relay"),
                  Objects.requireNonNull(sales.get(form)),
                  lab.settings().choose(200_000, 100_000)));
    }
  }

  /** A measurement of one form. */
  @FunctionalInterface
  private interface Measured {
    void of(Form form, Figures figures) throws Exception;
  }

  /** What is sold. */
  private enum Form {
    ONE("one SKU"),
    SHARDED("one SKU in 4 shards"),
    FOUR("4 SKUs");

    final String title;

    Form(String title) {
      this.title = title;
    }

    String key(String what) {
      return "%s.%s_%s_per_s".formatted(NAME, name().toLowerCase(Locale.ROOT), what);
    }

    /** Puts so many units on sale in all. */
    List<BenchSale> onSale(Lab lab, long units) {
      return switch (this) {
        case ONE -> List.of(lab.newSale(0, units));
        case SHARDED -> lab.newShardedSale(units, PARTS);
        case FOUR ->
            IntStream.range(0, PARTS).mapToObj(p -> lab.newSale(p, units / PARTS)).toList();
      };
    }

    /** The same in the same queues. */
    List<BenchSale> beside(Lab lab, List<BenchSale> others, long units) {
      return this == SHARDED
          ? lab.newShardedSale(units, PARTS)
          : lab.newSalesBeside(others, units / others.size());
    }
  }

  @Override
  public List<Row> rows() {
    return Stream.concat(
            Stream.of(
                    "accepted: accepted, 64 connections",
                    "e2e: accepted, 256 connections",
                    "e2e_stored: stored, first request to last row",
                    "consumer: consumer, prefilled queues",
                    "relay: relay, prefilled outboxes")
                .flatMap(StockShards::rows),
            Stream.concat(
                ShardPrimaries.rows(),
                Stream.concat(ShardBurst.rows(), Stream.of(Row.of("shards: lost", LOST)))))
        .toList();
  }

  private static Stream<Row> rows(String figure) {
    String what = figure.substring(0, figure.indexOf(':'));
    String text = figure.substring(figure.indexOf(':') + 2);
    return Stream.of(Form.values())
        .map(
            form ->
                new Row(
                    form.title + ": " + text,
                    form.key(what),
                    form == Form.SHARDED
                        ? List.of(
                            new Against(Form.ONE.title, Form.ONE.key(what)),
                            new Against(Form.FOUR.title, Form.FOUR.key(what)))
                        : List.of()));
  }
}
