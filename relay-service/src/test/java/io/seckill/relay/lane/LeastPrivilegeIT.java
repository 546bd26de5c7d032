package io.seckill.relay.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;

/**
 * FACTS 14: the rules shipped in deploy/ hold inside scripts too, and let the relay do its work.
 */
@ExtendWith(TestServers.class)
class LeastPrivilegeIT {

  private static final Duration SOON = Duration.ofSeconds(60);
  private static final Path DEPLOY = Path.of(System.getProperty("seckill.root"), "deploy");

  @Test
  void carriesAdoptsAndCountsWithTheRightsItIsShippedWith(RabbitServer rabbitServer)
      throws Exception {
    try (RedisServer redisServer = RedisServer.start()) {
      RedisDatabase redis = redisServer.newDatabase();
      RabbitVhost rabbit = rabbitServer.newVhost();
      try (TestOutbox outbox = new TestOutbox(redis.url());
          TestBroker broker = TestBroker.consuming(rabbit.url())) {
        limitInRedis(outbox);
        String brokerUrl = limitInRabbit(rabbitServer, rabbit);
        outbox.preheat(1600);
        outbox.redis().zadd(RedisKeys.lanes(0), 1, "ghost:0:aa");
        outbox.claimLate("ghost:0:aa", 1600);
        outbox.claimLate("orphan:0:bb", 1600);
        outbox.admit(500, TestOutbox.skusOfEveryPartition());
        outbox.admitText(3, "junk");

        try (TestRelay relay = TestRelay.start(redis.url("relay", "secret"), brokerUrl)) {
          await().atMost(SOON).until(() -> broker.seen() == 502);
          outbox.redis().scriptFlush();
          outbox.admit(100, TestOutbox.skusOfEveryPartition());
          await().atMost(SOON).until(() -> broker.seen() == 602);
          await().atMost(SOON).until(() -> broker.deadLetters().size() == 1);
          await().atMost(SOON).until(() -> outbox.inPrivateQueues() == 0);
          assertThat(relay.count("adopted")).isEqualTo(2);
          assertThat(outbox.counter(1600, "publishedOrders")).isPositive();
        }
      }
    }
  }

  private static void limitInRedis(TestOutbox outbox) throws IOException {
    CommandArguments setUser = new CommandArguments(Command.ACL).add("SETUSER").add("relay");
    for (String rule : rulesOfRelay()) {
      setUser.add(rule);
    }
    outbox.redis().executeCommand(setUser);
  }

  /** The rules of the template's entry for the relay, with a password of the test. */
  private static List<String> rulesOfRelay() throws IOException {
    List<String> rules = new ArrayList<>();
    boolean relay = false;
    for (String line : Files.readAllLines(DEPLOY.resolve("redis/users.acl"))) {
      relay = line.startsWith("user relay ") || (relay && line.startsWith("  "));
      if (relay) {
        rules.addAll(List.of(line.replace("user relay", "").strip().split(" +")));
      }
    }
    rules.replaceAll(rule -> rule.startsWith("#") ? ">secret" : rule);
    rules.removeIf(rule -> rule.startsWith("@SINCE"));
    assertThat(rules).contains("on", ">secret", "+brpoplpush");
    return rules;
  }

  /** As deploy/rabbitmq/definitions.json; the queues exist, the consumer declares them first. */
  private static String limitInRabbit(RabbitServer server, RabbitVhost vhost) throws IOException {
    String definitions = Files.readString(DEPLOY.resolve("rabbitmq/definitions.json"));
    String ofRelay = definitions.substring(definitions.indexOf("\"user\": \"relay\""));
    String user = "relay-" + vhost.name();
    server.ctl("add_user", user, "secret");
    server.ctl(
        "set_permissions",
        "-p",
        vhost.name(),
        user,
        permission(ofRelay, "configure"),
        permission(ofRelay, "write"),
        permission(ofRelay, "read"));
    return vhost
        .url()
        .replace(server.username() + ":" + server.password() + "@", user + ":secret@");
  }

  private static String permission(String json, String name) {
    int start = json.indexOf('"', json.indexOf("\"" + name + "\":") + name.length() + 3) + 1;
    return json.substring(start, json.indexOf('"', start)).replace("\\\\", "\\");
  }
}
