package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.lab.Users;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.common.sale.Shards;
import io.seckill.system.load.LoadAnswer;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * 100 000 purchases for 10 000 units in 16 shards, by shoppers of all of them, of two and of one:
 * every unit is sold, nobody is refused before, and it takes as long as without shards.
 */
enum ShardBurst {
  UNSHARDED("no shards", 1, 1),
  EVEN("16 shards", 16, 16),
  TWO("16 shards, all shoppers in two", 16, 2),
  ONE("16 shards, all shoppers in one", 16, 1);

  private static final int PURCHASES = 100_000;
  private static final int UNITS = 10_000;
  private static final String PREFIX = "shards.burst";

  private final String title;
  private final int shards;
  private final int used;
  private final String key = PREFIX + "_" + name().toLowerCase(Locale.ROOT);

  ShardBurst(String title, int shards, int used) {
    this.title = title;
    this.shards = shards;
    this.used = used;
  }

  void measure(Lab lab, Figures figures) throws Exception {
    lab.progress().now("shards: 100 000 purchases for 10 000 units, " + title);
    List<BenchSale> sales =
        shards == 1 ? List.of(lab.newSale(UNITS)) : lab.newShardedSale(UNITS, shards);
    Users users = lab.newUsers(PURCHASES, user -> Shards.of(user, shards) < used);
    ReadyPurchases purchases = new ReadyPurchases(lab, sales.subList(0, 1), users);
    Answers answers = new Answers();
    PatientShoppers shoppers = new PatientShoppers(purchases, answers::take);
    long start = System.nanoTime();
    shoppers.buy();
    figures.count(key + "_asked_again", shoppers.unanswered());
    shoppers.insist();
    try (StoredRows database = new StoredRows(lab.mysql())) {
      long missing = Waiting.missing(answers.accepted, () -> database.confirmed(sales));
      figures.add(key + ".seconds", (System.nanoTime() - start) / 1e9);
      figures.count(PREFIX + ".lost", missing);
      figures.count(PREFIX + ".oversold", Math.max(0, database.confirmed(sales) - UNITS));
    }
    figures.count(
        PREFIX + ".wrong_answers",
        answers.wrong + shoppers.unanswered() + Math.abs(answers.accepted - UNITS));
    figures.add(key + "_no_before_last_yes_ms", answers.noBeforeLastYesMs());
  }

  /** Every yes and no. */
  private static final class Answers {
    private long accepted;
    private long wrong;
    private long firstNoNanos = Long.MAX_VALUE;
    private long lastYesNanos = Long.MIN_VALUE;

    void take(LoadAnswer answer) {
      long now = System.nanoTime();
      if (answer.status() == 202) {
        accepted++;
        lastYesNanos = Math.max(lastYesNanos, now - answer.latencyNanos());
      } else if (answer.status() == 409 && answer.body().contains("SOLD_OUT")) {
        firstNoNanos = Math.min(firstNoNanos, now);
      } else {
        wrong++;
      }
    }

    /** From the first no to the sending of the last purchase that was sold; 0 if it came later. */
    double noBeforeLastYesMs() {
      return Math.max(0, lastYesNanos - firstNoNanos) / (double) TimeUnit.MILLISECONDS.toNanos(1);
    }
  }

  static Stream<Row> rows() {
    return Stream.concat(
        Stream.of(values()).flatMap(ShardBurst::own),
        Stream.of("lost", "oversold", "wrong_answers")
            .map(what -> Row.of("bursts: " + what.replace('_', ' '), PREFIX + "." + what)));
  }

  private Stream<Row> own() {
    String text = "100 000 for 10 000, " + title + ": ";
    return Stream.of(
        new Row(
            text + "until the last order is stored",
            key + ".seconds",
            this == UNSHARDED
                ? List.of()
                : List.of(new Against(UNSHARDED.title, UNSHARDED.key + ".seconds"))),
        Row.of(text + "503, repeated with the same key", key + "_asked_again"),
        Row.of(
            text + "from the first no to the last purchase sold", key + "_no_before_last_yes_ms"));
  }
}
