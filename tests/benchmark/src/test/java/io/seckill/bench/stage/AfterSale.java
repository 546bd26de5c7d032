package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.FundedUsers;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.StoredRows;
import io.seckill.bench.lab.Users;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.report.CpuCost;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.load.LoadPlan;
import io.seckill.system.load.Loader;
import io.seckill.system.load.Requests;
import io.seckill.system.process.Service;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * The CPU time of what follows a sale: its reconciliation once it has come to rest, payments from
 * wallets, and the expiry of the orders that are not paid. On servers of its own, because
 * reconciliation compares the sales of all stages.
 */
final class AfterSale implements Stage {

  private static final String RECONCILED = "reconciliation.orders";
  private static final String PAID = "payment.orders";
  private static final String EXPIRED = "expiry.orders";
  private static final String IDLE = "idle.cpu_percent";
  private static final String REPORTS = "seckill_consumer_reconciliations_total";

  /** The others are still busy with the end of the sale: RabbitMQ with its files. */
  private static final Set<CpuCost> RECONCILING =
      EnumSet.of(CpuCost.CONSUMER, CpuCost.REDIS, CpuCost.MYSQL);

  /** No message is sent: the relay and RabbitMQ are still busy with the end of the sale. */
  private static final Set<CpuCost> PAYING_AND_EXPIRING =
      EnumSet.complementOf(EnumSet.of(CpuCost.RELAY, CpuCost.RABBITMQ));

  /** A sale that rests is compared after one to two of these. */
  private static final Duration RECONCILIATION_INTERVAL = Duration.ofSeconds(5);

  /** Compilers and collectors finish the work caused by the last order. */
  private static final Duration CALM = Duration.ofSeconds(3);

  /** The results of paid orders are written to Redis again within this time. */
  private static final Duration RESULTS_WRITTEN_AGAIN = Duration.ofSeconds(5);

  private static final Duration LOOK = Duration.ofMillis(100);
  private static final Duration SCRAPE = Duration.ofSeconds(1);
  private static final int CONNECTIONS = 32;
  private static final int ROUNDS = 50;

  @Override
  public String name() {
    return "after";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    measure(lab, figures, Map.of("SECKILL_PAYMENT_PROVIDER", "wallet"), "");
  }

  /** What the orders of this stage cost when they are paid by another provider: a figure's key. */
  static String paidByOther(String stage) {
    return stage + "." + PAID;
  }

  /** Adds {@link #paidByOther}, and the other figures of this stage under such keys. */
  static void measureWithOther(Lab lab, Figures figures, String stage) throws Exception {
    measure(lab, figures, Map.of(), stage + ".");
  }

  private static void measure(Lab lab, Figures figures, Map<String, String> settings, String prefix)
      throws Exception {
    lab.runOnly();
    Map<String, String> variables = new HashMap<>(settings);
    variables.put("SECKILL_RECONCILIATION_INTERVAL", RECONCILIATION_INTERVAL.toSeconds() + "s");
    try (Lab own = Lab.openWith(lab.settings(), lab.progress(), variables)) {
      own.runOnly(Service.values());
      Round notKept = new Round(own, Map.of(), prefix);
      for (int round = 0; round < own.settings().choose(1, 2); round++) {
        notKept.measure(new Figures(), 75); // payments need the longest warm-up
      }
      Round measured = new Round(own, notKept.measureIdle(), prefix);
      for (int repeat = 0; repeat < own.settings().repeats(); repeat++) {
        measured.measure(figures, 25);
      }
      own.progress().now("after a sale: no traffic");
      figures.add(prefix + IDLE, own.idlePercent(CpuCost.GATEWAY, CpuCost.RELAY, CpuCost.CONSUMER));
    }
  }

  @Override
  public List<Row> rows() {
    return List.of(
        Row.of("after a sale: orders reconciled", RECONCILED),
        Row.of("after a sale: orders paid from wallets", PAID),
        Row.of("after a sale: unpaid orders expired", EXPIRED),
        Row.of("all three services without traffic: of one core", IDLE));
  }

  /**
   * One sale and what follows it.
   *
   * @param idle CPU time of each process without any work, µs per second
   * @param prefix of the keys of all figures
   */
  private record Round(Lab lab, Map<CpuCost, Double> idle, String prefix) {

    /** Begin of a measurement. */
    private record Start(CpuTimes cpu, long nanos) {

      static Start now() {
        return new Start(CpuTimes.now(), System.nanoTime());
      }

      double seconds() {
        return (System.nanoTime() - nanos) / 1e9;
      }
    }

    /**
     * @param paidPercent percentage of the orders that are paid
     */
    void measure(Figures figures, int paidPercent) throws Exception {
      int units = lab.settings().choose(50_000, 20_000);
      int paid = units * paidPercent / 100;
      BenchSale sale = lab.newSale(units);
      ReadyPurchases purchases = new ReadyPurchases(lab, sale, units);
      String[] orderIds = soldOut(sale, purchases);
      Waiting.pass(CALM);
      lab.progress().now("after a sale: reconciliation");
      Start reconciliation = Start.now();
      awaitReconciliation();
      add(figures, RECONCILED, reconciliation, units, RECONCILING);
      fund(purchases.users());
      lab.progress().now("after a sale: payments");
      Start payment = Start.now();
      pay(purchases, orderIds, paid);
      Waiting.pass(RESULTS_WRITTEN_AGAIN);
      add(figures, PAID, payment, paid, PAYING_AND_EXPIRING);
      lab.progress().now("after a sale: expiry");
      endPaymentTime(sale);
      Start expiry = expiryBegins(sale);
      awaitExpiry(sale, units - paid);
      add(figures, EXPIRED, expiry, units - paid, PAYING_AND_EXPIRING);
      awaitReconciliation();
    }

    /** CPU time while nothing happens, in µs per second. */
    Map<CpuCost, Double> measureIdle() {
      lab.progress().now("after a sale: idle");
      Waiting.pass(CALM);
      Start start = Start.now();
      long end = start.nanos + lab.settings().seconds(20, 10).toNanos();
      Waiting.until(
          "time to pass",
          SCRAPE,
          () -> {
            reconciliations();
            return System.nanoTime() >= end;
          });
      Map<CpuCost, Double> perSecond = new EnumMap<>(CpuCost.class);
      start
          .cpu
          .perOrder(1)
          .micros()
          .forEach((cost, us) -> perSecond.put(cost, us / start.seconds()));
      return perSecond;
    }

    /** Returns the order id of each purchase when all are stored and Redis has the results. */
    private String[] soldOut(BenchSale sale, ReadyPurchases purchases) throws Exception {
      lab.progress().now("after a sale: selling " + sale.stock() + " units");
      String[] orderIds = new String[purchases.count()];
      PatientShoppers shoppers =
          new PatientShoppers(
              purchases, answer -> orderIds[(int) answer.index()] = answer.orderId());
      shoppers.buy();
      shoppers.insist();
      Outbox outbox = new Outbox(lab.redis());
      String all = Long.toString(sale.stock());
      Waiting.until(
          "the sale to come to rest",
          LOOK,
          () ->
              outbox.waiting() == 0
                  && all.equals(lab.redis().hget(RedisKeys.sku(sale.skuId()), "settled")));
      return orderIds;
    }

    private void awaitReconciliation() {
      double before = reconciliations();
      Waiting.until("a reconciliation", SCRAPE, () -> reconciliations() > before);
    }

    private double reconciliations() {
      return lab.meter(Service.CONSUMER, REPORTS);
    }

    /** Without this, a payment in demo mode would also make the shopper's wallet. */
    private void fund(Users users) throws SQLException {
      new FundedUsers(lab, users).close();
    }

    /** Sends a payment of each of the first orders, and repeats those that were not answered. */
    private void pay(ReadyPurchases purchases, String[] orderIds, int count) throws IOException {
      Requests requests = new Requests(lab.pipeline().tokens());
      BitSet paid = new BitSet();
      for (int round = 0; round < ROUNDS && paid.cardinality() < count; round++) {
        int[] open = IntStream.range(0, count).filter(i -> !paid.get(i)).toArray();
        LoadPlan plan =
            new LoadPlan(
                lab.pipeline().shopPort(),
                CONNECTIONS,
                open.length,
                LoadPlan.ASAP,
                i -> {
                  int order = open[(int) i];
                  return requests.payment(purchases.users().id(order), orderIds[order]);
                });
        Loader.run(plan, answer -> paid.set(open[(int) answer.index()], answer.status() == 200));
      }
      if (paid.cardinality() < count) {
        throw new IllegalStateException(count - paid.cardinality() + " orders were not paid");
      }
    }

    /** Makes the unpaid orders old enough for the sweep to expire them. */
    private void endPaymentTime(BenchSale sale) throws SQLException {
      try (Connection mysql = lab.mysql();
          Statement update = mysql.createStatement()) {
        update.executeUpdate(
            "UPDATE orders SET created_at = created_at - INTERVAL 1 DAY"
                + " WHERE status = 'CONFIRMED' AND sku_id = "
                + sale.skuId());
      }
    }

    /** Waits until the first order has expired; returns a start shortly before. */
    private Start expiryBegins(BenchSale sale) {
      Start[] start = {Start.now()};
      Waiting.until(
          "orders to expire",
          LOOK,
          () -> {
            Start now = Start.now();
            boolean begun = stock(sale) > 0;
            if (!begun) {
              start[0] = now;
            }
            return begun;
          });
      return start[0];
    }

    private void awaitExpiry(BenchSale sale, int orders) throws Exception {
      try (StoredRows database = new StoredRows(lab.mysql())) {
        Waiting.until(
            "all unpaid orders to expire",
            LOOK,
            () -> stock(sale) == orders && database.pendingCompensations() == 0);
      }
    }

    private long stock(BenchSale sale) {
      return Long.parseLong(lab.redis().get(RedisKeys.stock(sale.skuId())));
    }

    /** Adds the CPU time since the start, less that of being idle for as long. */
    private void add(Figures figures, String key, Start start, int orders, Set<CpuCost> processes) {
      double seconds = start.seconds();
      Map<CpuCost, Double> each = new EnumMap<>(CpuCost.class);
      start
          .cpu
          .perOrder(1)
          .micros()
          .forEach(
              (cost, used) ->
                  each.put(cost, (used - seconds * idle.getOrDefault(cost, 0.0)) / orders));
      each.keySet().retainAll(processes);
      new CpuTimes.PerOrder(each).addTo(figures, prefix + key);
      figures.count(prefix + key, orders);
    }
  }
}
