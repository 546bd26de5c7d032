package io.seckill.bench.stage;

import io.seckill.bench.baseline.BaselineServer;
import io.seckill.bench.baseline.RedisBenchmark;
import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Outbox;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.system.load.LoadPlan;
import io.seckill.system.load.LoadResult;
import io.seckill.system.load.Loader;
import io.seckill.system.load.Wrk;
import io.seckill.system.process.Service;
import java.time.Duration;
import java.util.List;

/** Accepted purchases, from HTTP to the outbox. No relay runs, so the orders stay there. */
final class AdmissionAccepted implements Stage {

  private static final String ACCEPTED = "admission.accepted_per_s";
  private static final String ACCEPTED_512 = "admission.accepted_512_per_s";
  private static final String ACCEPTED_20_SKUS = "admission.accepted_20_skus_per_s";
  private static final String ACCEPTED_EVERYSEC = "admission.accepted_everysec_per_s";
  private static final String OBVIOUS = "admission.obvious_per_s";
  private static final String REDIS = "redis.evalsha_per_s";
  private static final String LOADER = "loader.most_per_s";
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
    try (BaselineServer baseline = BaselineServer.start(lab)) {
      new Gateways(
              lab,
              figures,
              lab.settings().seconds(6, 3),
              baseline,
              PurchaseLoad.onGateway(lab),
              new PurchaseLoad(lab, baseline.port(), baseline.tokens()))
          .measure();
    }
  }

  /** The gateway and its ceilings and baseline; all of them run, one at a time under load. */
  private record Gateways(
      Lab lab,
      Figures figures,
      Duration run,
      BaselineServer baseline,
      PurchaseLoad ours,
      PurchaseLoad obvious) {

    void measure() throws Exception {
      lab.progress().now("admission: warming up");
      Duration warmUp = lab.settings().warmUp();
      Figures notKept = new Figures();
      ours.accepted(notKept, ACCEPTED, FEW, warmUp, ours.newSales(warmUp, 1));
      PlainHttp.measure(notKept, PlainHttp.RATE, baseline, warmUp);
      obvious.accepted(notKept, OBVIOUS, FEW, warmUp, obvious.newSales(warmUp, 1));
      List<Work> measures =
          List.of(
              this::few,
              this::plain,
              this::oneCallEach,
              this::manySkus,
              this::many,
              this::everysec,
              this::redis,
              this::latencies,
              this::loader);
      lab.settings().repeatInTurns(measures);
    }

    private void few() throws Exception {
      lab.progress().now("admission: one hot SKU, 64 connections");
      Wrk.Result result = ours.accepted(figures, ACCEPTED, FEW, run, ours.newSales(run, 1));
      figures.add("admission.waited_64_p50_ms", result.p50Ms());
      figures.add("admission.waited_64_p99_ms", result.p99Ms());
    }

    private void many() throws Exception {
      lab.progress().now("admission: one hot SKU, 512 connections");
      Wrk.Result result = ours.accepted(figures, ACCEPTED_512, MANY, run, ours.newSales(run, 1));
      figures.add("admission.waited_512_p50_ms", result.p50Ms());
      figures.add("admission.waited_512_p99_ms", result.p99Ms());
    }

    private void manySkus() throws Exception {
      lab.progress().now("admission: 20 SKUs, 64 connections");
      ours.accepted(figures, ACCEPTED_20_SKUS, FEW, run, ours.newSales(run, SKUS));
    }

    private void everysec() throws Exception {
      lab.progress().now("admission: one hot SKU, AOF everysec");
      // Opened before the change of settings: opening refuses a Redis with unsafe ones.
      List<BenchSale> sales = ours.newSales(run, 1);
      lab.redis().configSet("appendfsync", "everysec");
      try {
        ours.accepted(figures, ACCEPTED_EVERYSEC, FEW, run, sales);
      } finally {
        lab.redis().configSet("appendfsync", "always");
      }
    }

    private void plain() throws Exception {
      lab.progress().now("admission: the HTTP stack without Redis");
      PlainHttp.measure(figures, PlainHttp.RATE, baseline, run);
    }

    private void oneCallEach() throws Exception {
      lab.progress().now("admission: one blocking EVALSHA through an annotated controller");
      obvious.accepted(figures, OBVIOUS, FEW, run, obvious.newSales(run, 1));
    }

    private void redis() throws Exception {
      lab.progress().now("admission: redis-benchmark of admit.lua, 64 purchases a call");
      BenchSale sale = lab.newSale(lab.settings().choose(448_000, 128_000));
      RedisBenchmark.measure(lab, figures, REDIS, sale);
      forget(sale);
    }

    private void latencies() throws Exception {
      lab.progress().now("admission: latencies at 10 000/s");
      int count = (int) (OPEN_LOOP_PER_SECOND * run.toSeconds());
      BenchSale sale = lab.newSale(count);
      LoadPlan plan = new ReadyPurchases(lab, sale, count).at(OPEN_LOOP_PER_SECOND);
      LoadResult result = Loader.run(plan, answer -> {});
      figures.add("admission.p50_ms", result.percentileMs(50));
      figures.add("admission.p99_ms", result.percentileMs(99));
      figures.count("admission.not_accepted", count - result.answers(202));
      forget(sale);
    }

    private void loader() throws Exception {
      lab.progress().now("admission: how fast the loader is");
      byte[] request = PlainHttp.request(baseline.tokens());
      int count = lab.settings().choose(200_000, 100_000);
      LoadPlan plan = new LoadPlan(baseline.port(), FEW, count, LoadPlan.ASAP, i -> request);
      figures.add(LOADER, Loader.run(plan, answer -> {}).perSecond());
    }

    private void forget(BenchSale sale) {
      Outbox outbox = new Outbox(lab.redis());
      outbox.clear();
      outbox.forget(sale);
    }
  }

  @Override
  public List<Row> rows() {
    List<Against> against =
        List.of(
            new Against("HTTP stack without Redis", PlainHttp.RATE),
            new Against("redis-benchmark, admit.lua, 64 purchases a call", REDIS),
            new Against("blocking EVALSHA, annotated controller", OBVIOUS));
    return List.of(
        new Row("accepted, 1 SKU, 64 connections, AOF always", ACCEPTED, against),
        Row.of("64 connections, as fast as answers come: p50", "admission.waited_64_p50_ms"),
        Row.of("64 connections, as fast as answers come: p99", "admission.waited_64_p99_ms"),
        Row.of("accepted, 512 connections", ACCEPTED_512),
        Row.of("512 connections, as fast as answers come: p50", "admission.waited_512_p50_ms"),
        Row.of("512 connections, as fast as answers come: p99", "admission.waited_512_p99_ms"),
        new Row(
            "accepted, 20 SKUs",
            ACCEPTED_20_SKUS,
            List.of(new Against("accepted, 1 SKU, 64 connections", ACCEPTED))),
        Row.of("accepted, AOF everysec", ACCEPTED_EVERYSEC),
        Row.of("accepted at " + LATENCY_RATE + ": p50", "admission.p50_ms"),
        Row.of("accepted at " + LATENCY_RATE + ": p99", "admission.p99_ms"),
        Row.of("answers other than 202 at that rate", "admission.not_accepted"),
        Row.of("accepted and not in the outbox", PurchaseLoad.LOST),
        Row.of("the open-loop loader against the HTTP stack without Redis", LOADER));
  }
}
