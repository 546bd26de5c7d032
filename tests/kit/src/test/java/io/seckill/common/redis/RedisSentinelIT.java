package io.seckill.common.redis;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.LoggedLines;
import io.seckill.testing.RedisReplicaSet;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TcpProxy;
import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.providers.SentineledConnectionProvider;

/**
 * A client follows an announced new master at once, and finds one that no Sentinel has announced.
 */
@Tag("proof")
@ChildProcessesOnly
class RedisSentinelIT {

  /** Shorter than the age of a subscription that is waited for. */
  private static final Duration COMMAND = Duration.ofSeconds(1);

  /** For the other tests: a slow machine must not be taken for a failure. */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  @AutoClose private final LoggedLines lines = LoggedLines.of(SentineledConnectionProvider.class);
  private RedisReplicaSet servers;

  @BeforeEach
  void start() {
    servers = RedisReplicaSet.start();
  }

  @AfterEach
  void stop() {
    servers.close();
  }

  @Test
  void listensLongerThanACommandMayTake() {
    try (RedisSentinelClient client =
        (RedisSentinelClient)
            RedisClients.open(settings(servers.sentinels(), COMMAND), "listener")) {
      HostAndPort former = client.getCurrentMaster();
      eventually().until(() -> subscriptions("listener", "age=[2-9]").size() > 0);
      Set<String> subscriptions = subscriptions("listener", "age=.*");

      servers.failOver();

      eventually().until(() -> !client.getCurrentMaster().equals(former));
      assertThat(subscriptions("listener", "age=.*")).containsAll(subscriptions);
      eventually().ignoreExceptions().until(() -> client.ping().equals("PONG"));
    }
  }

  @Test
  void asksAgainAfterALongSilence() {
    try (RedisServer other = RedisServer.start();
        RedisSentinelClient client =
            SentinelClients.open(settings(), "asker", Duration.ofSeconds(1))) {
      eventually().until(() -> subscriptions("asker", ".*").size() > 0);

      atEachSentinel(
          sentinel -> { // which announces nothing of this
            sentinel.sentinelRemove(servers.name());
            sentinel.sentinelMonitor(servers.name(), other.host(), other.port(), 1);
          });

      HostAndPort named = new HostAndPort(other.host(), other.port());
      eventually().until(() -> client.getCurrentMaster().equals(named));
      assertThat(lines.events())
          .as("complaints about silence")
          .noneMatch(line -> line.getLevel().isGreaterOrEqual(Level.WARN));
    }
  }

  @Test
  void takesTheMasterThatMostSentinelsName() {
    RedisServer former = servers.primary();
    HostAndPort promoted = address(servers.failOver());
    List<String> named = List.of(promoted.getHost(), "" + promoted.getPort());
    atEachSentinel(
        sentinel ->
            eventually()
                .until(() -> sentinel.sentinelGetMasterAddrByName(servers.name()), named::equals));
    servers.makeStale(former);

    assertThat(new RedisNodes(settings(), "watch").query(0).get(0).address())
        .isEqualTo(promoted.toString());
    try (RedisSentinelClient client =
        SentinelClients.open(settings(), "asker", Duration.ofSeconds(1))) {
      assertThat(client.getCurrentMaster()).isEqualTo(promoted);
      eventually().until(() -> subscriptions("asker", ".*").size() == servers.sentinels().size());
      Set<String> first = subscriptions("asker", ".*");
      eventually()
          .until(() -> subscriptions("asker", ".*"), next -> Collections.disjoint(first, next));
      assertThat(lines.texts())
          .as("masters")
          .noneMatch(line -> line.contains("master at " + address(former)));
      eventually().ignoreExceptions().until(() -> client.ping().equals("PONG"));
    }
  }

  @Test
  void opensWithoutASentinelAndFollowsTheFirstThatAnswers() throws IOException {
    try (TcpProxy link = TcpProxy.to(servers.sentinelServers().get(0))) {
      link.cut();
      try (UnifiedJedis client =
          RedisClients.open(settings(List.of("127.0.0.1:" + link.port()), PATIENCE), "early")) {
        assertThatThrownBy(client::ping).isInstanceOf(JedisConnectionException.class);

        link.heal();
        eventually().ignoreExceptions().until(() -> client.ping().equals("PONG"));
        servers.failOver();
        eventually().ignoreExceptions().until(() -> client.set("key", "after").equals("OK"));
      }
    }
  }

  private static HostAndPort address(RedisServer server) {
    return new HostAndPort(server.host(), server.port());
  }

  /** Identities, at all Sentinels, of this client's subscriptions with such an age in seconds. */
  private Set<String> subscriptions(String client, String age) {
    StringBuilder list = new StringBuilder();
    atEachSentinel(sentinel -> list.append(sentinel.clientList()));
    return list.toString()
        .lines()
        .filter(line -> line.matches(".* name=" + client + " " + age + " idle=.* sub=1 .*"))
        .map(line -> line.replaceFirst(" name=.*", ""))
        .collect(Collectors.toSet());
  }

  private void atEachSentinel(Consumer<Jedis> action) {
    for (String sentinel : servers.sentinels()) {
      try (Jedis jedis = new Jedis(HostAndPort.from(sentinel))) {
        action.accept(jedis);
      }
    }
  }

  private RedisSettings settings() {
    return settings(servers.sentinels(), PATIENCE);
  }

  private RedisSettings settings(List<String> sentinels, Duration command) {
    return new RedisSettings(
        RedisSettings.Mode.SENTINEL,
        "redis://127.0.0.1:1", // no server: the Sentinel names the master
        sentinels,
        servers.name(),
        null,
        command,
        null);
  }
}
