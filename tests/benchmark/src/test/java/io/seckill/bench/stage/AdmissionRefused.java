package io.seckill.bench.stage;

import io.seckill.bench.baseline.BaselineServer;
import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.Users;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.system.load.RequestFile;
import io.seckill.system.load.Requests;
import io.seckill.system.load.Wrk;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.List;
import java.util.function.LongFunction;

/** Most requests of a flash sale: purchases after sell-out, repeats, and status polls. */
final class AdmissionRefused implements Stage {

  private static final String REFUSED = "admission.refused_per_s";
  private static final String REPEATS = "admission.repeats_per_s";
  private static final String POLLS = "admission.polls_per_s";
  private static final String OVERSOLD = "admission.oversold";
  private static final int CONNECTIONS = 64;
  private static final int BUYERS = 50_000;

  @Override
  public String name() {
    return "refused";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.CONSUMER, Service.GATEWAY);
    try (BaselineServer baseline = BaselineServer.start(lab)) {
      lab.progress().now("refused: selling out");
      BenchSale sale = lab.newSale(BUYERS);
      ReadyPurchases purchases = new ReadyPurchases(lab, sale, BUYERS);
      List<String> orderIds = sellOut(purchases);
      PurchaseLoad load = PurchaseLoad.onGateway(lab);
      new SoldOut(lab, figures, sale, purchases.users(), orderIds, load, baseline).measure();
      Outbox outbox = new Outbox(lab.redis());
      outbox.clear();
      outbox.forget(sale);
    }
  }

  private static List<String> sellOut(ReadyPurchases purchases) throws Exception {
    String[] orderIds = new String[BUYERS];
    PatientShoppers shoppers =
        new PatientShoppers(purchases, answer -> orderIds[(int) answer.index()] = answer.orderId());
    shoppers.buy();
    shoppers.insist();
    return List.of(orderIds);
  }

  /**
   * A sale without stock.
   *
   * @param users its buyers
   * @param orderIds of these buyers, in the same order
   */
  private record SoldOut(
      Lab lab,
      Figures figures,
      BenchSale sale,
      Users users,
      List<String> orderIds,
      PurchaseLoad load,
      BaselineServer baseline) {

    void measure() throws Exception {
      lab.progress().now("refused: warming up");
      Duration warmUp = lab.settings().warmUp();
      Figures notKept = new Figures();
      load.refused(notKept, REFUSED, CONNECTIONS, warmUp, sale);
      repeats(notKept, warmUp);
      polls(notKept, warmUp);
      PlainHttp.measure(notKept, PlainHttp.RATE, baseline, warmUp);
      Duration run = lab.settings().seconds(6, 3);
      lab.settings()
          .repeatInTurns(
              List.of(
                  () -> refusals(run),
                  () -> PlainHttp.measure(figures, PlainHttp.RATE, baseline, run),
                  () -> repeats(figures, run),
                  () -> polls(figures, run)));
    }

    private void refusals(Duration run) throws Exception {
      lab.progress().now("refused: sold out");
      Wrk.Result result = load.refused(figures, REFUSED, CONNECTIONS, run, sale);
      figures.count(OVERSOLD, result.answers() - result.notOk());
    }

    private void repeats(Figures into, Duration run) throws Exception {
      lab.progress().now("refused: repeats of admitted purchases");
      Requests requests = new Requests(lab.pipeline().tokens());
      answered(into, REPEATS, run, i -> requests.purchase(users.id(i), sale.skuId()));
    }

    private void polls(Figures into, Duration run) throws Exception {
      lab.progress().now("refused: status polls");
      Requests requests = new Requests(lab.pipeline().tokens());
      answered(into, POLLS, run, i -> requests.status(users.id(i), orderIds.get((int) i)));
    }

    /** Sends requests of all buyers repeatedly. */
    private void answered(Figures into, String rateKey, Duration run, LongFunction<byte[]> requests)
        throws Exception {
      try (RequestFile file = RequestFile.write(BUYERS, requests)) {
        CpuTimes before = CpuTimes.now();
        Wrk.Result result = Wrk.run(lab.pipeline().shopPort(), CONNECTIONS, run, file);
        long answered = result.answers() - result.notOk();
        into.add(rateKey, result.perSecond() * answered / result.answers());
        before.addSince(into, rateKey, answered);
        into.count(PurchaseLoad.WRONG_ANSWERS, result.failed(0));
      }
    }
  }

  @Override
  public List<Row> rows() {
    List<Against> against = List.of(new Against("HTTP stack without Redis", PlainHttp.RATE));
    return List.of(
        new Row("sold out, with keys, 64 connections", REFUSED, against),
        new Row("repeats of admitted purchases", REPEATS, against),
        new Row("status polls of orders that no relay has taken", POLLS, against),
        Row.of("accepted after the last unit was sold", OVERSOLD),
        Row.of("wrong answers and broken connections", PurchaseLoad.WRONG_ANSWERS));
  }
}
