package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.system.guarantee.Explained;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.LedgerBalances;
import io.seckill.system.guarantee.OrderHistoryRow;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleOffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/**
 * One row of the fault matrix: four sales, a load that buys from them, faults, and the judgement
 * when all is healed. The test does the faults between {@link #begin} and {@link #judge}.
 */
final class FaultRun implements AutoCloseable {

  /** T_drain: from when all processes run until everything must be at rest and work again. */
  static final Duration DRAIN_LIMIT = Duration.ofMinutes(2);

  /** Two seconds of them: fewer would say little of what held on the way. */
  private static final int LEAST_LOOKS = 4;

  private static final Duration LOOK = Duration.ofMillis(500);

  /** What a busy machine is allowed of a promised time: proof.md says so. */
  private static final int BUSY_MACHINE = 5;

  /** As {@link #BUSY_MACHINE}, of a promised share; in percent. */
  private static final double LEAST_SHARE = 50;

  private static final List<String> QUEUES =
      List.of("seckill.orders.0", "seckill.orders.1", "seckill.orders.2", "seckill.orders.3");

  private final FaultLab lab;
  private final String row;
  private final List<SaleOffer> sales;
  private final Purchases purchases = new Purchases();
  private final LoadGenerator load;
  private final AlwaysHolds always;
  private final List<String> faults = new CopyOnWriteArrayList<>();
  private final List<FaultReport.Promise> promises = new CopyOnWriteArrayList<>();

  FaultRun(FaultLab lab, String row, List<SaleOffer> sales, int planned, Duration over) {
    this.lab = lab;
    this.row = row;
    this.sales = sales;
    List<PlannedPurchase> plan = PlannedPurchase.of(sales, planned + LoadGenerator.MOST_LATECOMERS);
    this.load = new LoadGenerator(lab.shops(), purchases, plan, planned, over);
    this.always = new AlwaysHolds(lab.database(), lab.redis(), sales);
  }

  /** Lets the load in, and waits until so many purchases are accepted. */
  FaultRun begin(int accepted) {
    load.start();
    load.awaitAccepted(accepted);
    return this;
  }

  LoadGenerator load() {
    return load;
  }

  List<SaleOffer> sales() {
    return sales;
  }

  SaleOffer sale(int index) {
    return sales.get(index);
  }

  /** Orders of the run that wait in Redis, in outboxes and private queues. */
  long waitingInRedis() {
    return sales.stream().mapToLong(always::waiting).sum();
  }

  /** Orders that wait in the broker or are in a consumer's hands, of all runs. */
  long inBroker() {
    return QUEUES.stream()
        .mapToLong(queue -> lab.servers().vhost().queueDepth(queue).total())
        .sum();
  }

  /** Orders in consumers' hands, of all runs. */
  long inConsumers() {
    return QUEUES.stream()
        .mapToLong(queue -> lab.servers().vhost().queueDepth(queue).unacked())
        .sum();
  }

  /** Notes a fault that has been seen to happen. */
  void fault(String what) {
    faults.add(what);
  }

  /** Notes how long something has taken, up to now, for which a time is promised. */
  void took(String what, long sinceNanos, Duration promised) {
    Duration took = Duration.ofNanos(System.nanoTime() - sinceNanos);
    promises.add(new FaultReport.Promise("ms until " + what, took.toMillis(), promised.toMillis()));
    assertThat(took).as(what).isLessThanOrEqualTo(promised.multipliedBy(BUSY_MACHINE));
  }

  /** Notes of how many in a hundred something held that is promised of so many. */
  void share(String what, double percent, double promised) {
    promises.add(new FaultReport.Promise("% " + what, percent, promised));
    assertThat(percent).as(what).isGreaterThanOrEqualTo(LEAST_SHARE);
  }

  /** Heals what is left, waits at most {@link #DRAIN_LIMIT} for rest, and has everything judged. */
  void judge() {
    judge(Explained.NOTHING);
  }

  /** As {@link #judge()}, but for what the fault explains. */
  void judge(Explained explained) {
    judge(Guarantee.all(explained), List.of(new LedgerBalances(lab.admin())));
  }

  /**
   * @param guarantees tried until all hold
   * @param afterwards judged once, when the services work again
   */
  void judge(List<Guarantee> guarantees, List<Guarantee> afterwards) {
    assertThat(faults).as("faults that happened").isNotEmpty();
    lab.heal();
    load.lastCall();
    long healed = System.nanoTime();
    lab.awaitStarted();
    long started = System.nanoTime();
    Judgement judgement = new Judgement(lab, sales, load, purchases, guarantees);
    awaitRest(judgement);
    List<String> complaints = new ArrayList<>(judgement.complaints());
    if (complaints.isEmpty()) {
      Duration left = DRAIN_LIMIT.minusNanos(System.nanoTime() - started);
      Judgement.check(complaints, "WorksAgain", () -> awaitWorksAgain(left));
    }
    if (complaints.isEmpty()) { // a frozen gateway may have had purchases in its sockets
      awaitRest(judgement);
      complaints.addAll(judgement.complaints());
    }
    for (SaleAtRest sale : judgement.atRest()) {
      for (Guarantee guarantee : afterwards) {
        if (complaints.isEmpty()) { // each is patient by itself
          Judgement.check(
              complaints, Judgement.nameOf(guarantee), () -> guarantee.judge(sale, purchases));
        }
      }
    }
    long restMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - healed);
    always.violations().forEach(violation -> complaints.add("AlwaysHolds: " + violation));
    if (!complaints.isEmpty()) {
      throw new BrokenRunError(row, complaints);
    }
    assertThat(always.looks()).as("looks on the way").isGreaterThanOrEqualTo(LEAST_LOOKS);
    report(judgement.atRest(), restMs);
  }

  private void awaitRest(Judgement judgement) {
    Judgement.check(
        new ArrayList<>(), // what the last look found wrong says more than that time is up
        "the limit",
        () ->
            await(row + ": everything at rest")
                .atMost(DRAIN_LIMIT)
                .pollInterval(LOOK)
                .pollDelay(Duration.ZERO)
                .until(judgement::isOver));
  }

  private void awaitWorksAgain(Duration left) {
    await(row + ": everything to work again")
        .atMost(left.compareTo(lab.patience()) < 0 ? left : lab.patience())
        .pollInterval(LOOK)
        .pollDelay(Duration.ZERO)
        .ignoreExceptions()
        .untilAsserted(() -> lab.worksAgain().judge());
  }

  private void report(List<SaleAtRest> atRest, long restMs) {
    Set<String> stored = new HashSet<>();
    Set<String> missing = new HashSet<>(purchases.acceptedOrders());
    for (SaleAtRest sale : atRest) {
      sale.orders().stream().map(OrderHistoryRow::orderId).forEach(stored::add);
      missing.removeAll(sale.aliases());
    }
    missing.removeAll(stored);
    Set<String> unpromised = new HashSet<>(stored);
    unpromised.removeAll(purchases.acceptedOrders());
    lab.report()
        .add(
            new FaultReport.Row(
                row,
                List.copyOf(faults),
                load.arrived(),
                load.accepted(),
                stored.size(),
                missing.size(),
                unpromised.size(),
                always.looks(),
                restMs,
                load.answers(),
                List.copyOf(promises)));
  }

  @Override
  public void close() {
    load.close();
    always.close();
  }
}
