package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.Sale;
import io.seckill.bench.load.RequestFile;
import io.seckill.bench.load.Requests;
import io.seckill.bench.load.Wrk;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.List;
import java.util.function.LongFunction;

/** What most shoppers of a flash sale do: come too late, try again, and look how it stands. */
final class AdmissionRefused implements Stage {

  private static final int CONNECTIONS = 64;
  private static final int BUYERS = 50_000;

  @Override
  public String name() {
    return "refused";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.CONSUMER, Service.GATEWAY);
    lab.progress().now("refused: selling out");
    Sale sale = lab.newSale(BUYERS);
    ReadyPurchases purchases = new ReadyPurchases(lab, sale, BUYERS);
    long firstUser = purchases.firstUser();
    String[] orderIds = sellOut(purchases);
    Duration run = lab.settings().seconds(6, 3);
    refusals(lab, sale, run);
    for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
      lab.progress().now("refused: sold out");
      figures.add("admission.refused_per_s", refusals(lab, sale, run));
      lab.progress().now("refused: repeats of admitted purchases");
      figures.add("admission.repeats_per_s", repeats(lab, sale, firstUser, run));
      lab.progress().now("refused: status polls");
      figures.add("admission.polls_per_s", polls(lab, firstUser, orderIds, run));
    }
    Outbox outbox = new Outbox(lab.redis());
    outbox.clear();
    outbox.forget(sale);
  }

  private static String[] sellOut(ReadyPurchases purchases) throws Exception {
    String[] orderIds = new String[BUYERS];
    PatientShoppers shoppers =
        new PatientShoppers(purchases, answer -> orderIds[(int) answer.index()] = answer.orderId());
    shoppers.buy();
    shoppers.insist();
    return orderIds;
  }

  private static double refusals(Lab lab, Sale sale, Duration run) throws Exception {
    Wrk.Result result =
        new PurchaseLoad(lab)
            .wrk(
                lab.pipeline().shopPort(),
                lab.pipeline().tokens(),
                CONNECTIONS,
                run,
                List.of(sale));
    return result.perSecond() * result.notOk() / result.answers();
  }

  private static double repeats(Lab lab, Sale sale, long firstUser, Duration run) throws Exception {
    Requests requests = new Requests(lab.pipeline().tokens());
    return accepted(lab, run, i -> requests.purchase(firstUser + i, sale.skuId()));
  }

  private static double polls(Lab lab, long firstUser, String[] orderIds, Duration run)
      throws Exception {
    Requests requests = new Requests(lab.pipeline().tokens());
    return accepted(lab, run, i -> requests.status(firstUser + i, orderIds[(int) i]));
  }

  private static double accepted(Lab lab, Duration run, LongFunction<byte[]> requests)
      throws Exception {
    try (RequestFile file = RequestFile.write(BUYERS, requests)) {
      Wrk.Result result = Wrk.run(lab.pipeline().shopPort(), CONNECTIONS, run, file);
      return result.perSecond() * (result.answers() - result.notOk()) / result.answers();
    }
  }

  @Override
  public List<Row> rows() {
    List<Against> against =
        List.of(new Against("HTTP stack without Redis", AdmissionAccepted.PLAIN_HTTP));
    return List.of(
        new Row("sold out, with keys, 64 connections", "admission.refused_per_s", against),
        new Row("repeats of admitted purchases", "admission.repeats_per_s", against),
        new Row("status polls", "admission.polls_per_s", against));
  }
}
