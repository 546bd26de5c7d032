package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.lab.Users;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.OrderHistoryRow;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.load.LoadAnswer;
import io.seckill.system.load.Requests;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** 100 000 purchases for 10 000 units, as fast as they can be sent, and the result of each. */
final class Burst implements Stage {

  private static final String ANSWERS = "burst.answers_per_s";
  private static final int PURCHASES = 100_000;
  private static final int UNITS = 10_000;
  private static final Duration LOOK = Duration.ofMillis(10);

  @Override
  public String name() {
    return "burst";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.values());
    HeapWatch.during(lab, figures, () -> repeat(lab, figures));
  }

  private static void repeat(Lab lab, Figures figures) throws Exception {
    for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
      measureOnce(lab, figures);
    }
  }

  private static void measureOnce(Lab lab, Figures figures) throws Exception {
    lab.progress().now("burst: 100 000 purchases for 10 000 units");
    BenchSale sale = lab.newSale(UNITS);
    ReadyPurchases purchases = new ReadyPurchases(lab, sale, PURCHASES);
    Judge judge = new Judge(sale, purchases.users());
    PatientShoppers shoppers = new PatientShoppers(purchases, judge::take);
    CpuTimes before = CpuTimes.now();
    long start = System.nanoTime();
    figures.add(ANSWERS, shoppers.buy().perSecond());
    figures.count("burst.asked_again", shoppers.unanswered());
    shoppers.insist();
    try (StoredRows database = new StoredRows(lab.mysql())) {
      database.missing(sale, judge.accepted());
    }
    figures.add("burst.seconds", (System.nanoTime() - start) / 1e9);
    before.addSince(figures, ANSWERS, PURCHASES);
    figures.count("burst.wrong_answers", judge.wrong() + shoppers.unanswered());
    judge.atRest(lab, figures);
  }

  @Override
  public List<Row> rows() {
    return List.of(
        Row.of("burst of 100 000 for 10 000: until the last order is stored", "burst.seconds"),
        Row.of("burst: answers", ANSWERS),
        Row.of("burst: 503, repeated with the same key", "burst.asked_again"),
        Row.of("burst: lost", "burst.lost"),
        Row.of("burst: oversold", "burst.oversold"),
        Row.of("burst: wrong answers", "burst.wrong_answers"),
        Row.of("burst: broken guarantees", "burst.broken_guarantees"));
  }

  /** Compares the shoppers' answers with the contents of the stores. */
  private static final class Judge {

    private final BenchSale sale;
    private final Users users;
    private final Purchases purchases = new Purchases();
    private long accepted;
    private long wrong;

    Judge(BenchSale sale, Users users) {
      this.sale = sale;
      this.users = users;
      for (int i = 0; i < PURCHASES; i++) {
        long userId = users.id(i);
        purchases.attempt(sale.skuId(), userId, Requests.key(userId), 1);
      }
    }

    void take(LoadAnswer answer) {
      long userId = users.id(answer.index());
      String key = Requests.key(userId);
      if (answer.status() == 202) {
        accepted++;
        purchases.accepted(sale.skuId(), userId, key, answer.orderId());
      } else if (answer.status() == 409 && answer.body().contains("SOLD_OUT")) {
        long now = System.currentTimeMillis();
        long sentAt = now - TimeUnit.NANOSECONDS.toMillis(answer.latencyNanos());
        purchases.refused(sale.skuId(), userId, key, "SOLD_OUT", sentAt, now);
      } else {
        wrong++;
      }
    }

    long accepted() {
      return accepted;
    }

    /**
     * Returns the number of wrong answers: purchases without a yes or no, answers other than
     * accepted and sold out, too many acceptances, and refusals while there was stock.
     */
    long wrong() {
      return wrong + Math.abs(accepted - sale.stock());
    }

    void atRest(Lab lab, Figures figures) throws Exception {
      Outbox outbox = new Outbox(lab.redis());
      Waiting.until("private queues to be empty", LOOK, () -> outbox.waiting() == 0);
      SaleAtRest rest = lab.pipeline().sales().read(sale.offer());
      Set<String> lost = new HashSet<>(purchases.acceptedOrders());
      rest.orders().stream().map(OrderHistoryRow::orderId).forEach(lost::remove);
      figures.count("burst.lost", lost.size());
      figures.count("burst.oversold", Math.max(0, rest.ownedUnits() - sale.stock()));
      figures.count("burst.broken_guarantees", broken(lab, rest));
    }

    private long broken(Lab lab, SaleAtRest rest) {
      return Guarantee.all().stream().filter(guarantee -> isBroken(lab, guarantee, rest)).count();
    }

    private boolean isBroken(Lab lab, Guarantee guarantee, SaleAtRest rest) {
      try {
        guarantee.judge(rest, purchases);
        return false;
      } catch (AssertionError e) {
        lab.progress().note(guarantee.getClass().getSimpleName() + ": " + e.getMessage());
        return true;
      }
    }
  }
}
