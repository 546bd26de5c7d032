package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Sale;
import io.seckill.bench.load.RequestFile;
import io.seckill.bench.load.Requests;
import io.seckill.bench.load.Wrk;
import io.seckill.common.redis.RedisKeys;
import io.seckill.system.shop.Tokens;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Closed-loop purchases by users who have not been seen before, so that every signature counts. */
final class PurchaseLoad {

  /** More than is ever answered in a second, so that no request is sent twice. */
  private static final int MOST_PER_SECOND = 60_000;

  private final Lab lab;

  PurchaseLoad(Lab lab) {
    this.lab = lab;
  }

  /** Stock that a run of this length cannot exhaust. */
  static long stockFor(Duration duration) {
    return MOST_PER_SECOND * duration.toSeconds();
  }

  /**
   * What came of a run.
   *
   * @param perSecond purchases that Redis has admitted, per second of the run
   * @param p50Ms median time a connection waited for its answer
   * @param p99Ms 99th percentile of the same
   */
  record Accepted(double perSecond, double p50Ms, double p99Ms) {}

  /** Purchases taking turns among the sales. */
  Accepted accepted(int port, Tokens tokens, int connections, Duration run, List<Sale> sales)
      throws IOException, InterruptedException {
    long before = admitted(sales);
    Wrk.Result result = wrk(port, tokens, connections, run, sales);
    double perSecond = (admitted(sales) - before) / (double) run.toSeconds();
    return new Accepted(perSecond, result.p50Ms(), result.p99Ms());
  }

  /** The same load, whatever the answers are. */
  Wrk.Result wrk(int port, Tokens tokens, int connections, Duration run, List<Sale> sales)
      throws IOException, InterruptedException {
    long count = MOST_PER_SECOND * run.toSeconds();
    long firstUser = lab.newUsers(count);
    Requests requests = new Requests(tokens);
    try (RequestFile file =
        RequestFile.write(
            count,
            i -> requests.purchase(firstUser + i, sales.get((int) (i % sales.size())).skuId()))) {
      return Wrk.run(port, connections, run, file);
    }
  }

  private long admitted(List<Sale> sales) {
    long stockTaken = 0;
    for (Sale sale : sales) {
      stockTaken += sale.stock() - Long.parseLong(lab.redis().get(RedisKeys.stock(sale.skuId())));
    }
    return stockTaken;
  }
}
