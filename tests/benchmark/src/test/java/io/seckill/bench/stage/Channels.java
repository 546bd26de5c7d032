package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.CpuTimes;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Waiting;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.system.process.Service;
import io.seckill.system.process.ServiceProcess;
import io.seckill.testing.DeployedSettings;
import io.seckill.testing.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The channels of a gateway, what makes "queued" durable, and the servers of the HA form, in turns;
 * all three services run.
 */
final class Channels implements Stage {

  private static final int CONNECTIONS = 256;
  private static final double BUSY = 0.8;
  private static final Duration LOOK = Duration.ofMillis(100);

  @Override
  public String name() {
    return "channels";
  }

  @Override
  public boolean isOnRequest() {
    return true;
  }

  @Override
  public void measure(Lab lab, Figures figures) throws Exception {
    try (Lab ha = Lab.openHa(lab.settings(), lab.progress())) {
      lab.settings()
          .repeatInTurns(
              Stream.of(Mode.values())
                  .<Work>map(mode -> () -> mode.measure(mode == Mode.HA ? ha : lab, figures))
                  .toList());
    }
  }

  private static void restartGateway(Lab lab, Map<String, String> settings) {
    ServiceProcess gateway = lab.pipeline().run(Service.GATEWAY);
    gateway.stop();
    gateway.restart(settings).awaitReady();
  }

  /** A gateway's settings, and the keys of its figures. */
  private enum Mode {
    RELAY("relays, durable in Redis", "redis", 0),
    REPLICAS("relays, durable on one replica", "replicas", 1),
    BROKER("direct, durable in the broker", "broker", 0),
    HA("relays, HA form, durable on one replica", "replicas", 1);

    final String title;
    final String durableIn;
    final int replicas;
    final String prefix = "channels." + name().toLowerCase(Locale.ROOT) + "_";
    final String accepted = prefix + "accepted_per_s";
    final String sustained = prefix + "sustained_per_s";

    Mode(String title, String durableIn, int replicas) {
      this.title = title;
      this.durableIn = durableIn;
      this.replicas = replicas;
    }

    void measure(Lab lab, Figures figures) throws Exception {
      lab.progress().now("channels: " + title);
      @Nullable RedisServer replica = this == REPLICAS ? replicaOf(lab) : null;
      try {
        lab.runOnly(Service.values());
        measureAll(lab, figures);
      } finally {
        lab.runOnly();
        if (replica != null) {
          replica.close();
        }
      }
    }

    private void measureAll(Lab lab, Figures figures) throws Exception {
      restartGateway(lab, environment(lab));
      burst(lab, figures, prefix + "warm_up_per_s"); // compiles what was just started
      burst(lab, figures, accepted);
      RateTrial trial = new RateTrial(lab, figures, lab.settings().seconds(8, 5));
      double rate = new SustainedRate(trial, lab.settings().choose(2, 1)).search();
      figures.add(sustained, rate);
      trial.cpu().addTo(figures, sustained);
      paced(lab, figures, "100", 100);
      paced(lab, figures, "1000", 1_000);
      if (rate > 0) {
        paced(lab, figures, "busy", (int) (rate * BUSY));
      }
    }

    private Map<String, String> environment(Lab lab) {
      return new HashMap<>(
          Map.of(
              "SECKILL_BROKER_URLS",
              lab.pipeline().brokerUrl(),
              "SECKILL_ADMISSION_DURABLEIN",
              durableIn,
              "SECKILL_ADMISSION_REPLICAS",
              "" + replicas));
    }

    private static RedisServer replicaOf(Lab lab) {
      RedisServer primary = lab.redisServer();
      RedisServer replica =
          RedisServer.start(
              Stream.concat(
                      DeployedSettings.redis().stream(),
                      Stream.of("replicaof " + primary.host() + " " + primary.port()))
                  .toArray(String[]::new));
      Waiting.until(
          "the replica to be in step",
          LOOK,
          () -> lab.redis().info("replication").contains("state=online"));
      return replica;
    }

    private void burst(Lab lab, Figures figures, String rateKey) throws Exception {
      lab.progress().now("channels: " + title + ": 256 connections");
      int count = lab.settings().choose(150_000, 50_000);
      BenchSale sale = lab.newSale(count);
      new ClosedLoop(lab, figures, EndToEnd.LOST).buy(rateKey, sale, CONNECTIONS);
    }

    private void paced(Lab lab, Figures figures, String pace, int perSecond) throws Exception {
      CpuTimes before = CpuTimes.now();
      ClickToRow result = ClickToRow.at(lab, figures, perSecond, lab.settings().choose(12, 4));
      before.addSince(figures, prefix + pace + "_per_s", result.answers().answers(202));
      for (int percentile : List.of(50, 99)) {
        String end = "_" + pace + "_p" + percentile + "_ms";
        figures.add(prefix + "queued" + end, result.answers().percentileMs(percentile));
        figures.add(prefix + "row" + end, result.rowMs(percentile));
      }
    }

    List<Row> rows() {
      List<Row> rows = new ArrayList<>();
      rows.add(against("accepted, 256 connections", accepted, RELAY.accepted));
      rows.add(against("end to end, sustained", sustained, RELAY.sustained));
      for (String pace : List.of("100", "1000", "busy")) {
        for (String what : List.of("queued", "row")) {
          for (String percentile : List.of("p50", "p99")) {
            String end = what + "_" + pace + "_" + percentile + "_ms";
            String text = "click to %s, %s: %s".formatted(what, paceText(pace), percentile);
            rows.add(against(text, prefix + end, RELAY.prefix + end));
          }
        }
      }
      return rows;
    }

    private static String paceText(String pace) {
      return pace.equals("busy") ? "80 % of sustained" : pace + "/s";
    }

    private Row against(String text, String key, String ofRelays) {
      return new Row(
          title + ": " + text,
          key,
          this == RELAY ? List.of() : List.of(new Against(RELAY.title, ofRelays)));
    }
  }

  @Override
  public List<Row> rows() {
    return Stream.of(Mode.values()).flatMap(mode -> mode.rows().stream()).toList();
  }
}
