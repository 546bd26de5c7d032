package io.seckill.system.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.system.guarantee.Explained;
import io.seckill.system.guarantee.Guarantee;
import io.seckill.system.guarantee.LedgerBalances;
import io.seckill.system.guarantee.OrderHistoryRow;
import io.seckill.system.guarantee.Purchases;
import io.seckill.system.guarantee.RunHistory;
import io.seckill.system.guarantee.SaleAtRest;
import io.seckill.system.guarantee.SaleOffer;
import io.seckill.system.shop.ShopClient;
import io.seckill.testing.RowLock;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;

/**
 * One row of the fault matrix: four sales, a load that buys from them, faults, and the judgement
 * after everything is healed. The test injects the faults between {@link #begin} and {@link
 * #judge}.
 */
public final class FaultRun implements AutoCloseable {

  /** T_drain: the time limit for everything to be at rest and work again once all processes run. */
  static final Duration DRAIN_LIMIT = Duration.ofMinutes(2);

  /** Two seconds of checks: fewer would say little about the invariants during the run. */
  private static final int LEAST_LOOKS = 4;

  /** Of a mutant, 48 s; as built, the limit is shorter. */
  private static final int WAITS_UNTIL_IT_WORKS = 4;

  private static final Duration LOOK = Duration.ofSeconds(1);

  private static final List<String> QUEUES =
      List.of("seckill.orders.0", "seckill.orders.1", "seckill.orders.2", "seckill.orders.3");

  private final PipelineLab lab;
  private final String row;
  private final List<SaleOffer> sales;
  private final Purchases purchases = new Purchases();
  private final LoadGenerator load;
  private final AlwaysHolds always;
  private final List<String> faults = new CopyOnWriteArrayList<>();
  private final List<FaultReport.Promise> promises = new CopyOnWriteArrayList<>();

  FaultRun(PipelineLab lab, String row, List<SaleOffer> sales, int planned, Duration over) {
    this.lab = lab;
    this.row = row;
    this.sales = sales;
    List<PlannedPurchase> plan = PlannedPurchase.of(sales, planned + LoadGenerator.MOST_LATECOMERS);
    List<ShopClient> shops = isStrong() ? lab.patientShops() : lab.shops();
    this.load = new LoadGenerator(shops, purchases, plan, planned, over, yes());
    this.always = new AlwaysHolds(lab, sales);
  }

  private Set<Integer> yes() {
    if (isStrong()) {
      return Set.of(201);
    }
    return lab.channel().hasFallback() ? Set.of(202, 201) : Set.of(202);
  }

  private boolean isStrong() {
    return sales.stream().anyMatch(SaleOffer::isStrong);
  }

  /** Starts the load and waits until that many purchases are accepted. */
  public FaultRun begin(int accepted) {
    load.start();
    load.awaitAccepted(accepted);
    return this;
  }

  public LoadGenerator load() {
    return load;
  }

  public List<SaleOffer> sales() {
    return sales;
  }

  /** Ids of the orders in answers to shoppers until now. */
  public Set<String> acceptedOrders() {
    return purchases.acceptedOrders();
  }

  /** As {@link #acceptedOrders()}, of one sale. */
  public Set<String> acceptedOrders(SaleOffer sale) {
    return purchases.acceptedOrders(sale.skuId());
  }

  public SaleOffer sale(int index) {
    return sales.get(index);
  }

  /** Moves of units between the shards of a sale that are finished. */
  public long moves(int index) {
    String ids =
        sale(index).inRedis().stream().map(String::valueOf).collect(Collectors.joining(","));
    return lab.database()
        .number(
            "SELECT COUNT(*) FROM stock_change WHERE change_id LIKE 'move-%' AND state = 'DONE'"
                + (" AND sku_id IN (" + ids + ")"));
  }

  /** The fault itself pays an order, or tries to. */
  public void mayBePaid(String orderId) {
    purchases.unansweredEnd(orderId, "PAID");
  }

  /** Locks the row of a sale's product until this is released. */
  public RowLock lockProduct(int index) {
    return lab.database()
        .lock("SELECT * FROM products WHERE sku_id = " + sale(index).skuId() + " FOR UPDATE");
  }

  /** Orders of the run that wait in Redis, in outboxes and private queues. */
  public long waitingInRedis() {
    return sales.stream().mapToLong(always::waiting).sum();
  }

  /** Messages in the broker's queues, ready or unacknowledged, of all runs. */
  public long inBroker() {
    return QUEUES.stream()
        .mapToLong(queue -> lab.servers().vhost().queueDepth(queue).total())
        .sum();
  }

  /** Orders of the run that the broker has confirmed and MySQL has not settled. */
  public long ordersInBroker() throws SQLException {
    long orders = 0;
    for (SaleOffer sale : sales) {
      for (long id : sale.inRedis()) {
        orders += lab.sales().inBroker(id);
      }
    }
    return orders;
  }

  /** Messages delivered to consumers and not acknowledged, of all runs. */
  public long inConsumers() {
    return QUEUES.stream()
        .mapToLong(queue -> lab.servers().vhost().queueDepth(queue).unacked())
        .sum();
  }

  /** Records a fault whose effect has been observed. */
  public void fault(String what) {
    faults.add(what);
  }

  /** Checks what holds while a fault lasts, and records the fault. */
  void during(Fault fault, Runnable checks) {
    String what = fault.target() + ": " + fault.name();
    BooleanSupplier effect = fault.begin().get();
    try {
      Signals.await("the effect of " + what, effect::getAsBoolean);
      checks.run();
    } finally {
      fault.end().run();
    }
    fault(what);
  }

  /**
   * Records the time that something with a promised time has taken up to now. It is reported and
   * not asserted, because two cores have six services, three servers and a load to run.
   */
  public void took(String what, long sinceNanos, Duration promised) {
    long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNanos);
    promises.add(new FaultReport.Promise("ms until " + what, tookMs, promised.toMillis()));
  }

  /** Records the time until an order is stored that was admitted later than now, of both sales. */
  public void awaitFlow(String what, long sinceNanos, Duration promised) {
    Map<SaleOffer, Long> admitted = new HashMap<>();
    for (SaleOffer sale : neverSoldOut()) {
      admitted.put(sale, lab.sales().admissionSeq(sale.skuId()));
    }
    admitted.forEach(
        (sale, seq) -> Signals.await(what, () -> lab.sales().storedSeq(sale.skuId()) > seq));
    took(what, sinceNanos, promised);
  }

  /** The sales with ample stock, in two partitions and queues. */
  public List<SaleOffer> neverSoldOut() {
    return sales.subList(2, 4);
  }

  /** Records the percentage for which something held, and the promised one, as {@link #took}. */
  void share(String what, double percent, double promised) {
    promises.add(new FaultReport.Promise("% " + what, percent, promised));
  }

  /**
   * Heals the remaining faults, waits at most {@link #DRAIN_LIMIT} for rest, and checks all
   * guarantees.
   */
  public void judge() {
    judge(Explained.NOTHING);
  }

  /** As {@link #judge()}, except for deviations that the fault explains. */
  public void judge(Explained explained) {
    List<Guarantee> guarantees = isStrong() ? Guarantee.strong() : Guarantee.all(explained);
    judge(guarantees, List.of(new LedgerBalances(lab.admin())));
  }

  /**
   * @param guarantees checked repeatedly until all hold
   * @param afterwards checked once, when the services work again
   */
  public void judge(List<Guarantee> guarantees, List<Guarantee> afterwards) {
    assertThat(faults).as("recorded faults").isNotEmpty();
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
    if (complaints.isEmpty()) { // a frozen gateway may have had unread purchases in its sockets
      awaitRest(judgement);
      complaints.addAll(judgement.complaints());
    }
    List<Guarantee> judgedAfterwards = complaints.isEmpty() ? afterwards : List.of();
    RunHistory.judgeAfterwards(judgedAfterwards, judgement.atRest(), purchases, complaints);
    long restMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - healed);
    if (complaints.isEmpty()) { // a slow machine may have made few, but all stores answer now
      Signals.await(
          "checks of the run",
          () -> always.looks() >= LEAST_LOOKS || !always.violations().isEmpty());
    }
    always.violations().forEach(violation -> complaints.add("AlwaysHolds: " + violation));
    if (!complaints.isEmpty()) {
      RunHistory history =
          new RunHistory(
              row, faults, guarantees, judgedAfterwards, judgement.atRest(), purchases, complaints);
      throw new BrokenRunError(history.withoutWhatItRepeats(), complaints);
    }
    report(judgement.atRest(), restMs);
  }

  private void awaitRest(Judgement judgement) {
    Judgement.check(
        new ArrayList<>(), // violations found last say more than a time-out
        "the limit",
        () ->
            await(row + ": everything at rest")
                .atMost(DRAIN_LIMIT)
                .pollInterval(LOOK)
                .pollDelay(Duration.ZERO)
                .ignoreExceptionsMatching(e -> e instanceof Exception) // a store that is slow
                .until(judgement::isOver));
  }

  /** Longer than the patience, which is for what stores show: lanes and breakers come later. */
  private void awaitWorksAgain(Duration left) {
    Duration most = lab.patience().multipliedBy(WAITS_UNTIL_IT_WORKS);
    await(row + ": everything to work again")
        .atMost(left.compareTo(most) < 0 ? left : most)
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
