package io.seckill.bench.stage;

import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.Sale;
import io.seckill.bench.load.LoadPlan;
import io.seckill.bench.load.LoadResult;
import io.seckill.bench.load.Loader;
import io.seckill.bench.load.RequestFile;
import io.seckill.bench.load.Requests;
import io.seckill.bench.load.Wrk;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.bench.stage.PurchaseLoad.Accepted;
import io.seckill.bench.yardstick.RedisBenchmark;
import io.seckill.bench.yardstick.YardstickServer;
import io.seckill.system.process.Service;
import io.seckill.system.shop.Tokens;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;

/**
 * Purchases that are accepted, over HTTP into the outbox. No relay runs: nothing takes them out.
 */
final class AdmissionAccepted implements Stage {

  static final String PLAIN_HTTP = "http.plain_per_s";
  private static final String LATENCY_RATE = "10 000/s, open loop";
  private static final int OPEN_LOOP_PER_SECOND = 10_000;
  private static final int FEW = 64;
  private static final int MANY = 512;
  private static final int SKUS = 20;

  @Override
  public String name() {
    return "admission";
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    lab.runOnly(Service.CONSUMER, Service.GATEWAY);
    Duration run = lab.settings().seconds(6, 3);
    lab.progress().now("admission: warming up");
    accepted(lab, FEW, lab.settings().seconds(20, 8), 1);
    for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
      measureGateway(lab, figures, run);
      measureRedis(lab, figures);
      latencies(lab, figures, run);
    }
    try (YardstickServer yardstick = YardstickServer.start(lab)) {
      warmUp(lab, yardstick);
      for (int repeat = 0; repeat < lab.settings().repeats(); repeat++) {
        measureYardsticks(lab, figures, yardstick, run);
      }
    }
    new Outbox(lab.redis()).clear();
  }

  /**
   * The bound is for 64 connections: by then the gateway's compilers have done most of their work.
   */
  private static void measureGateway(Lab lab, Figures figures, Duration run) throws Exception {
    lab.progress().now("admission: one hot SKU, 512 connections");
    Accepted many = accepted(lab, MANY, run, 1);
    figures.add("admission.accepted_512_per_s", many.perSecond());
    figures.add("admission.waited_512_p50_ms", many.p50Ms());
    figures.add("admission.waited_512_p99_ms", many.p99Ms());
    lab.progress().now("admission: 20 SKUs, 64 connections");
    figures.add("admission.accepted_20_skus_per_s", accepted(lab, FEW, run, SKUS).perSecond());
    lab.progress().now("admission: one hot SKU, 64 connections");
    Accepted few = accepted(lab, FEW, run, 1);
    figures.add("admission.accepted_per_s", few.perSecond());
    figures.add("admission.waited_64_p50_ms", few.p50Ms());
    figures.add("admission.waited_64_p99_ms", few.p99Ms());
    lab.progress().now("admission: one hot SKU, AOF everysec");
    List<Sale> sales = newSales(lab, run, 1); // opened before Redis is unsafe
    lab.redis().configSet("appendfsync", "everysec");
    try {
      figures.add("admission.accepted_everysec_per_s", accepted(lab, FEW, run, sales).perSecond());
    } finally {
      lab.redis().configSet("appendfsync", "always");
    }
  }

  private static List<Sale> newSales(Lab lab, Duration run, int skus) {
    return lab.newSales(skus, PurchaseLoad.stockFor(run) / skus);
  }

  private static Accepted accepted(Lab lab, int connections, Duration run, int skus)
      throws IOException, InterruptedException {
    return accepted(lab, connections, run, newSales(lab, run, skus));
  }

  private static Accepted accepted(Lab lab, int connections, Duration run, List<Sale> sales)
      throws IOException, InterruptedException {
    Accepted accepted =
        new PurchaseLoad(lab)
            .accepted(lab.pipeline().shopPort(), lab.pipeline().tokens(), connections, run, sales);
    forget(lab, sales);
    return accepted;
  }

  private static void measureRedis(Lab lab, Figures figures) throws Exception {
    for (int pipelined : List.of(1, 64)) {
      int calls = lab.settings().choose(200_000, pipelined == 1 ? 40_000 : 80_000);
      lab.progress().now("admission: redis-benchmark of admit.lua, -P " + pipelined);
      Sale sale = lab.newSale(calls);
      figures.add(
          pipelined == 1 ? "redis.evalsha_p1_per_s" : "redis.evalsha_per_s",
          RedisBenchmark.admitsPerSecond(lab, sale, calls, pipelined));
      forget(lab, List.of(sale));
    }
  }

  private static void latencies(Lab lab, Figures figures, Duration run) throws Exception {
    lab.progress().now("admission: latencies at 10 000/s");
    int count = (int) (OPEN_LOOP_PER_SECOND * run.toSeconds());
    Sale sale = lab.newSale(count);
    LoadPlan plan = new ReadyPurchases(lab, sale, count).at(OPEN_LOOP_PER_SECOND);
    LoadResult result = Loader.run(plan, answer -> {});
    figures.add("admission.p50_ms", result.percentileMs(50));
    figures.add("admission.p99_ms", result.percentileMs(99));
    figures.count("admission.not_accepted", count - result.answers(202));
    forget(lab, List.of(sale));
  }

  private static void warmUp(Lab lab, YardstickServer yardstick) throws Exception {
    lab.progress().now("admission: warming up the yardsticks");
    Duration run = lab.settings().seconds(6, 3);
    plain(yardstick, run);
    obvious(lab, yardstick, run);
  }

  private static void measureYardsticks(
      Lab lab, Figures figures, YardstickServer yardstick, Duration run) throws Exception {
    lab.progress().now("admission: the HTTP stack without Redis");
    figures.add(PLAIN_HTTP, plain(yardstick, run).perSecond());
    lab.progress().now("admission: how fast the loader is");
    figures.add("loader.most_per_s", loader(lab, yardstick).perSecond());
    lab.progress().now("admission: one blocking EVALSHA through an annotated controller");
    figures.add("admission.obvious_per_s", obvious(lab, yardstick, run));
  }

  private static Wrk.Result plain(YardstickServer yardstick, Duration run) throws Exception {
    byte[] request = plainRequest(yardstick.tokens());
    try (RequestFile file = RequestFile.write(1, i -> request)) {
      return Wrk.run(yardstick.port(), FEW, run, file);
    }
  }

  private static LoadResult loader(Lab lab, YardstickServer yardstick) throws IOException {
    byte[] request = plainRequest(yardstick.tokens());
    int count = lab.settings().choose(200_000, 100_000);
    return Loader.run(
        new LoadPlan(yardstick.port(), FEW, count, LoadPlan.ASAP, i -> request), answer -> {});
  }

  /** As long as a purchase of the gateway. */
  private static byte[] plainRequest(Tokens tokens) {
    String purchase =
        new String(new Requests(tokens).purchase(1_000_000_000, 1), StandardCharsets.US_ASCII);
    return purchase.replace("/api/v1/", "/plain/").getBytes(StandardCharsets.US_ASCII);
  }

  private static double obvious(Lab lab, YardstickServer yardstick, Duration run) throws Exception {
    List<Sale> sales = lab.newSales(1, PurchaseLoad.stockFor(run));
    double perSecond =
        new PurchaseLoad(lab)
            .accepted(yardstick.port(), yardstick.tokens(), FEW, run, sales)
            .perSecond();
    forget(lab, sales);
    return perSecond;
  }

  private static void forget(Lab lab, List<Sale> sales) {
    Outbox outbox = new Outbox(lab.redis());
    outbox.clear();
    sales.forEach(outbox::forget);
  }

  @Override
  public List<Row> rows() {
    List<Against> against =
        List.of(
            new Against("HTTP stack without Redis", PLAIN_HTTP),
            new Against("redis-benchmark, admit.lua, -P 64", "redis.evalsha_per_s"),
            new Against("redis-benchmark, admit.lua, -P 1", "redis.evalsha_p1_per_s"),
            new Against("blocking EVALSHA, annotated controller", "admission.obvious_per_s"));
    return List.of(
        new Row("accepted, 1 SKU, 64 connections, AOF always", "admission.accepted_per_s", against),
        Row.of("64 connections, as fast as answers come: p50", "admission.waited_64_p50_ms"),
        Row.of("64 connections, as fast as answers come: p99", "admission.waited_64_p99_ms"),
        Row.of("accepted, 512 connections", "admission.accepted_512_per_s"),
        Row.of("512 connections, as fast as answers come: p50", "admission.waited_512_p50_ms"),
        Row.of("512 connections, as fast as answers come: p99", "admission.waited_512_p99_ms"),
        Row.of("accepted, 20 SKUs", "admission.accepted_20_skus_per_s"),
        Row.of("accepted, AOF everysec", "admission.accepted_everysec_per_s"),
        Row.of("accepted at " + LATENCY_RATE + ": p50", "admission.p50_ms"),
        Row.of("accepted at " + LATENCY_RATE + ": p99", "admission.p99_ms"),
        Row.of("answers other than 202 at that rate", "admission.not_accepted"),
        Row.of("the open-loop loader against the HTTP stack without Redis", "loader.most_per_s"));
  }
}
