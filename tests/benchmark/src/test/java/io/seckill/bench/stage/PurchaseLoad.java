package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.Users;
import io.seckill.bench.report.Figures;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.load.RequestFile;
import io.seckill.system.load.Requests;
import io.seckill.system.load.Wrk;
import io.seckill.system.process.Service;
import io.seckill.system.shop.ShopTokens;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/**
 * Closed-loop purchases, each by a new user, so that every signature has to be verified. The first
 * run is the warm-up, and shows how many purchases the others need.
 */
final class PurchaseLoad {

  static final String LOST = "admission.lost";
  static final String WRONG_ANSWERS = "admission.wrong_answers";

  private static final long FEWEST_PER_SECOND = 60_000;
  private static final int MARGIN = 2;

  private final Lab lab;
  private final int port;
  private final ShopTokens tokens;
  private long mostPerSecond = FEWEST_PER_SECOND;
  private boolean warm;

  /**
   * @param port of the gateway, ours or the baseline
   * @param tokens tokens that this gateway accepts
   */
  PurchaseLoad(Lab lab, int port, ShopTokens tokens) {
    this.lab = lab;
    this.port = port;
    this.tokens = tokens;
  }

  /** Purchases from our gateway. */
  static PurchaseLoad onGateway(Lab lab) {
    return new PurchaseLoad(lab, lab.pipeline().shopPort(), lab.pipeline().tokens());
  }

  /** Puts new SKUs on sale, with stock for all purchases of a run. */
  List<BenchSale> newSales(Duration run, int skus) {
    return lab.newSales(skus, enough(run) / skus);
  }

  /** Units for all purchases of a run. */
  long enough(Duration run) {
    return mostPerSecond * run.toSeconds();
  }

  /**
   * Buys from new sales in turn, and deletes their data afterwards. Adds the orders that Redis
   * admitted per second of the run, the CPU time per order, and as lost the accepted ones that are
   * not in the outbox; no relay may run.
   */
  Wrk.Result accepted(
      Figures figures, String rateKey, int connections, Duration run, List<BenchSale> sales)
      throws IOException, InterruptedException {
    Outbox outbox = new Outbox(lab.redis());
    Measured measured = run(connections, run, sales);
    long admitted = admitted(sales);
    long accepted = measured.result.answers() - measured.result.notOk();
    figures.count(LOST, Math.max(0, Math.max(admitted, accepted) - outbox.waiting()));
    figures.add(rateKey, admitted / (double) run.toSeconds());
    measured.before.addSince(figures, rateKey, admitted);
    outbox.clear();
    sales.forEach(outbox::forget);
    return measured.result;
  }

  /**
   * Buys from a sold-out sale; adds the refusals per second that our gateway counted, the CPU time
   * per refusal, and the wrong answers.
   */
  Wrk.Result refused(Figures figures, String rateKey, int connections, Duration run, BenchSale sale)
      throws IOException, InterruptedException {
    long before = soldOut();
    Measured measured = run(connections, run, List.of(sale));
    long refused = soldOut() - before;
    figures.add(rateKey, refused / (double) run.toSeconds());
    measured.before.addSince(figures, rateKey, refused);
    figures.count(WRONG_ANSWERS, measured.result.failed(refused));
    return measured.result;
  }

  private long soldOut() {
    return (long) lab.meter(Service.GATEWAY, "seckill_refused_total", "reason=\"sold_out\"");
  }

  /**
   * @param before CPU times when the first purchase was sent
   */
  private record Measured(CpuTimes before, Wrk.Result result) {}

  private Measured run(int connections, Duration run, List<BenchSale> sales)
      throws IOException, InterruptedException {
    long count = mostPerSecond * run.toSeconds();
    Users users = lab.newUsers(count);
    Requests requests = new Requests(tokens);
    try (RequestFile file =
        RequestFile.write(
            count,
            i -> requests.purchase(users.id(i), sales.get((int) (i % sales.size())).soldAs()))) {
      CpuTimes before = CpuTimes.now();
      Wrk.Result result = Wrk.run(port, connections, run, file);
      if (warm && result.rounds() > 0) {
        throw new IllegalStateException("wrk sent purchases twice: it had no more than " + count);
      }
      warm = true;
      mostPerSecond = Math.max(mostPerSecond, MARGIN * (long) result.perSecond());
      return new Measured(before, result);
    }
  }

  private long admitted(List<BenchSale> sales) {
    return sales.stream()
        .mapToLong(
            sale -> Long.parseLong(lab.redis().hget(RedisKeys.sku(sale.skuId()), "admittedUnits")))
        .sum();
  }
}
