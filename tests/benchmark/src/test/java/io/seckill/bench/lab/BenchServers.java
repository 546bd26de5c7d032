package io.seckill.bench.lab;

import static java.util.concurrent.CompletableFuture.supplyAsync;

import io.seckill.testing.Bounded;
import io.seckill.testing.DeployedSettings;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlPair;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RabbitCluster;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisReplicaSet;
import io.seckill.testing.RedisServer;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The servers of a lab; each test uses one.
 *
 * @param name names the log files of the services
 * @param redis the primaries: one, or those of a cluster
 * @param variables for the services, which may use more of them
 * @param close ends all of them
 */
record BenchServers(
    String name,
    List<RedisServer> redis,
    RabbitServer rabbit,
    RabbitVhost vhost,
    MySqlServer mysql,
    MySqlDatabase database,
    Map<String, String> variables,
    Runnable close) {

  /** The maximum that the services allow. */
  static final int HEARTBEAT_SECONDS = 60;

  static BenchServers single() {
    RedisServer redis = RedisServer.start(DeployedSettings.redis().toArray(String[]::new));
    return with("bench", List.of(redis), Map.of(), redis::close);
  }

  static BenchServers cluster() {
    RedisCluster redis = RedisCluster.start(DeployedSettings.redisCluster().toArray(String[]::new));
    return with(
        "bench-cluster",
        IntStream.range(0, redis.nodes().size()).mapToObj(redis::node).toList(),
        Map.of(
            "SECKILL_REDIS_MODE",
            "cluster",
            "SECKILL_REDIS_NODES",
            String.join(",", redis.nodes())),
        redis::close);
  }

  private static BenchServers with(
      String name, List<RedisServer> redis, Map<String, String> variables, Runnable closeRedis) {
    var rabbit = supplyAsync(() -> RabbitServer.start(rabbitSettings()));
    MySqlServer mysql = MySqlServer.start(DeployedSettings.mysql().toArray(String[]::new));
    return new BenchServers(
        name,
        redis,
        Bounded.get(rabbit),
        Bounded.get(rabbit).newVhost(),
        mysql,
        mysql.newDatabase(),
        variables,
        () -> {
          mysql.close();
          Bounded.get(rabbit).close();
          closeRedis.run();
        });
  }

  /** Those of {@code scripts/up --ha}; "queued" is durable on one replica. */
  static BenchServers ha() {
    var rabbit = supplyAsync(() -> RabbitCluster.start(benchRabbit()));
    RedisReplicaSet redis =
        RedisReplicaSet.start(DeployedSettings.redisHa().toArray(String[]::new));
    MySqlPair mysql = MySqlPair.start();
    MySqlDatabase database = mysql.newDatabase();
    RabbitVhost vhost = Bounded.get(rabbit).newVhost();
    String jdbcUrl = mysql.jdbcUrl(database);
    return new BenchServers(
        "bench-ha",
        List.of(redis.primary()),
        Bounded.get(rabbit).nodes().get(0),
        vhost,
        mysql.primary(),
        database,
        Map.of(
            "SECKILL_REDIS_MODE",
            "sentinel",
            "SECKILL_REDIS_NODES",
            String.join(",", redis.sentinels()),
            "SECKILL_REDIS_MASTER",
            redis.name(),
            "SPRING_DATASOURCE_URL",
            jdbcUrl,
            "SPRING_FLYWAY_URL",
            jdbcUrl),
        () -> {
          mysql.close();
          Bounded.get(rabbit).close();
          redis.close();
        });
  }

  /**
   * The broker's default interval of statistics: other tests use four per second, which costs
   * throughput. Heartbeats longer than the time for which a consumer is frozen while its queues are
   * filled.
   */
  private static String[] rabbitSettings() {
    return Stream.concat(DeployedSettings.rabbit().stream(), Stream.of(benchRabbit()))
        .toArray(String[]::new);
  }

  private static String[] benchRabbit() {
    return new String[] {"collect_statistics_interval = 5000", "heartbeat = " + HEARTBEAT_SECONDS};
  }
}
