package io.seckill.bench.stage;

import io.seckill.bench.lab.BenchSale;
import io.seckill.bench.lab.Lab;
import io.seckill.bench.lab.Work;
import io.seckill.bench.report.Figures;
import io.seckill.bench.report.Row;
import io.seckill.bench.report.Row.Against;
import io.seckill.system.process.Service;
import io.seckill.testing.RedisServer;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import redis.clients.jedis.UnifiedJedis;

/**
 * What one SKU costs the busiest of three Redis primaries, in turns without shards and with some,
 * for some shoppers at once and for many: the more wait, the more purchases a call of a shard has.
 */
enum ShardPrimaries {
  ONE(1, 256),
  FOUR(4, 256),
  SIXTEEN(16, 256),
  ONE_OF_MANY(1, 1_024),
  FOUR_OF_MANY(4, 1_024),
  SIXTEEN_OF_MANY(16, 1_024);

  private final int shards;
  private final int connections;
  private final String key;
  private final String busiest;

  ShardPrimaries(int shards, int connections) {
    this.shards = shards;
    this.connections = connections;
    String name = "shards.primaries_%d_of_%d".formatted(shards, connections);
    this.key = name + "_per_s";
    this.busiest = name + "_busiest_cpu_us";
  }

  static void measureAll(Lab lab, Figures figures, String lostKey) throws Exception {
    try (Lab cluster = Lab.openCluster(lab.settings(), lab.progress())) {
      cluster.runOnly(Service.values());
      FOUR.measure(cluster, new Figures(), lostKey);
      cluster
          .settings()
          .repeatInTurns(
              Stream.of(values())
                  .<Work>map(form -> () -> form.measure(cluster, figures, lostKey))
                  .toList());
    }
  }

  private void measure(Lab lab, Figures figures, String lostKey) throws Exception {
    lab.progress().now("shards: three primaries, shards: " + shards);
    int count = lab.settings().choose(60_000, 20_000);
    List<BenchSale> sales =
        shards == 1 ? List.of(lab.newSale(2L * count)) : lab.newShardedSale(2L * count, shards);
    List<Double> before = cpuMicros(lab);
    long bought =
        ClosedLoop.accepted(
            new ClosedLoop(lab, figures, lostKey).buy(key, sales, count, connections));
    List<Double> after = cpuMicros(lab);
    lab.close(sales);
    double most =
        IntStream.range(0, before.size())
            .mapToDouble(node -> after.get(node) - before.get(node))
            .max()
            .orElseThrow();
    figures.add(busiest, most / Math.max(1, bought));
  }

  private static List<Double> cpuMicros(Lab lab) {
    return lab.redisServers().stream().map(ShardPrimaries::cpuMicros).toList();
  }

  private static double cpuMicros(RedisServer primary) {
    try (UnifiedJedis redis = primary.open()) {
      String used = redis.info("cpu");
      UnaryOperator<String> seconds =
          field -> used.replaceFirst("(?s).*" + field + ":([0-9.]+).*", "$1");
      return 1e6
          * (Double.parseDouble(seconds.apply("used_cpu_user"))
              + Double.parseDouble(seconds.apply("used_cpu_sys")));
    }
  }

  static Stream<Row> rows() {
    return Stream.of(values())
        .map(
            form ->
                new Row(
                    "three primaries, %d connections, shards: %d: CPU µs of the busiest an order"
                        .formatted(form.connections, form.shards),
                    form.busiest,
                    form.shards == 1
                        ? List.of()
                        : List.of(new Against("without shards", form.unsharded().busiest))));
  }

  private ShardPrimaries unsharded() {
    return connections == ONE.connections ? ONE : ONE_OF_MANY;
  }
}
