package io.seckill.gateway.admission;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.gateway.testing.SeededDatabase;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.testing.TestSale;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.LoggedLines;
import io.seckill.testing.MySqlDatabase;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisReplicaSet;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import io.seckill.testing.TestServers;
import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class AdmissionStartIT {

  @ParameterizedTest
  @CsvSource({
    "seckill.security.hs256-secret=, either hs256-secret or jwk-set-uri",
    "seckill.security.hs256-secret=0123456789012345678901234567890, at least 32 bytes",
    "seckill.admission.max-batch=65, max-batch must be 1..64",
    "seckill.admission.durable-in=bro-ker, must be redis",
    "seckill.admission.durable-in=replicas seckill.admission.replicas=1"
        + " seckill.redis.socket-timeout=169ms, at least 170ms",
    "seckill.admission.answer-within=PT9000000000000H, seckill.admission.answer-within must be",
    "seckill.admission.sold-out-shield=100s, seckill.admission.sold-out-shield must be",
    "seckill.limits.trusted-proxies=everyone, seckill.limits.trusted-proxies: not a network",
    "seckill.limits.trusted-proxies=10.0.0.0/x, seckill.limits.trusted-proxies: not a network",
    "seckill.redis.max-connections=0, seckill.redis.max-connections must be 1..1024",
    "seckill.redis.url=http://localhost, url must be redis"
  })
  void refusesToStartWithASettingThatCannotBeRight(String properties, String message) {
    assertThatThrownBy(() -> startWithoutStores(properties.split(" ", -1)).close())
        .hasStackTraceContaining(message);
  }

  private static TestGateway startWithoutStores(String... properties) {
    return TestGateway.start(
        "redis://127.0.0.1:1",
        new MySqlDatabase("127.0.0.1", 1, "x", "u", "p"),
        TestGateway.NO_CONSUMER,
        properties);
  }

  /** Shoppers who reload would fill a disk. */
  @Test
  void logsNothingOfEachListThatCannotBeRead() {
    try (TestGateway gateway = startWithoutStores();
        LoggedLines lines = LoggedLines.of("com.github.benmanes.caffeine")) { // after its levels
      for (int list = 0; list < 20; list++) {
        assertThat(gateway.send(gateway.shop("/api/v1/skus")).status()).isEqualTo(503);
      }

      assertThat(lines.texts()).isEmpty();
    }
  }

  @Test
  void startsWithoutRedisAndSellsOnceItIsThere(RedisServer server, MySqlServer mysql)
      throws IOException {
    RedisDatabase database = server.newDatabase();
    try (TcpProxy link = TcpProxy.to(server);
        UnifiedJedis redis = database.open()) {
      TestSale sale = TestSale.unlimited(redis, 10);
      link.cut();
      try (TestGateway gateway =
          SeededDatabase.create(mysql).heldGateway(database.via(link).url())) {
        assertThat(gateway.buy(1, sale.sku(), 1, "key-0001").status()).isEqualTo(503);

        link.heal();
        eventually().until(() -> gateway.buy(1, sale.sku(), 1, "key-0001").status() == 202);
      }
    }
  }

  @Tag("proof")
  @ChildProcessesOnly
  @Test
  void startsWithoutASentinelAndSellsOnceOneAnswers(MySqlServer mysql) throws IOException {
    try (RedisReplicaSet servers = RedisReplicaSet.start();
        UnifiedJedis redis = servers.primary().open();
        TcpProxy link = TcpProxy.to(servers.sentinelServers().get(0))) {
      sellsOnceANodeAnswers("sentinel", link, TestSale.unlimited(redis, 10), mysql);
    }
  }

  @Tag("proof")
  @ChildProcessesOnly
  @Test
  void startsWithoutANodeOfAClusterAndSellsOnceOneAnswers(MySqlServer mysql) throws IOException {
    try (RedisCluster cluster = RedisCluster.start();
        UnifiedJedis redis = RedisClusterClient.create(HostAndPort.from(cluster.nodes().get(0)));
        TcpProxy link = TcpProxy.to(cluster.node(0))) {
      sellsOnceANodeAnswers("cluster", link, TestSale.unlimited(redis, 10), mysql);
    }
  }

  private static void sellsOnceANodeAnswers(
      String mode, TcpProxy link, TestSale sale, MySqlServer mysql) {
    link.cut();
    try (TestGateway gateway =
        SeededDatabase.create(mysql)
            .heldGateway(
                "redis://127.0.0.1:1", // no server: the nodes name the servers
                "seckill.redis.mode=" + mode,
                "seckill.redis.nodes=127.0.0.1:" + link.port(),
                "seckill.redis.master=seckill")) {
      assertThat(gateway.buy(1, sale.sku(), 1, "key-0001").status()).isEqualTo(503);

      link.heal();
      eventually().until(() -> gateway.buy(1, sale.sku(), 1, "key-0001").status() == 202);
    }
  }

  @Test
  void givesItsWorkerNumberBackWhenItStops(RedisServer server, MySqlServer mysql) {
    RedisDatabase database = server.newDatabase();
    try (UnifiedJedis redis = database.open()) {
      SeededDatabase.create(mysql).gateway(database.url()).close();

      for (int partition = 0; partition < Partition.COUNT; partition++) {
        assertThat(redis.hvals(RedisKeys.workers(partition)))
            .hasSize(1)
            .allMatch(v -> v.startsWith("|1|"));
      }
    }
  }
}
