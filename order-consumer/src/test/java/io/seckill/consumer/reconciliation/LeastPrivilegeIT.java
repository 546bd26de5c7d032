package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Ledger;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.TestServers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** FACTS 14: the rules shipped in deploy/ let the consumer reconcile, and do nothing beside. */
@ExtendWith(TestServers.class)
class LeastPrivilegeIT {

  private static final Duration SOON = Duration.ofSeconds(30);
  private static final Path DEPLOY = Path.of(System.getProperty("seckill.root"), "deploy");

  @Test
  void reconcilesWithTheRightsItIsShippedWith(RabbitServer rabbitServer) throws Exception {
    RabbitVhost rabbit = rabbitServer.newVhost();
    String brokerUrl = limitInRabbit(rabbitServer, rabbit);
    try (TestConsumer consumer =
            TestConsumer.start(
                redis ->
                    Map.of(
                        "seckill.redis.url",
                        limitInRedis(redis),
                        "seckill.broker.url",
                        brokerUrl,
                        "seckill.dead-letter.drain-interval",
                        "50ms"));
        OrderFlood flood = new OrderFlood(rabbit)) {
      AdmittedSale sale = new AdmittedSale(consumer, 9001, PurchasePolicy.LIMITED, 5, 50);
      Ledger ledger = new Ledger(consumer.sql());
      OrderMessage stored = sale.admit(1, 2);
      flood.publish(stored);
      ledger.awaitOrders(sale.sku, 1);
      await().atMost(SOON).until(() -> sale.result(stored).equals("C"));
      sale.forgetRecord(stored);
      OrderMessage lost = sale.admit(2, 1);
      sale.outbox(sale.admit(3, 1));
      sale.setQuota(4, 1);
      sale.setStock(20);

      Answer repaired = reconcile(consumer, sale);
      assertThat(repaired.text())
          .contains("REPAIRED", "ORDER_SENT_AGAIN", "RECORD_RESTORED", "QUOTA_SET", "STOCK_SET");
      ledger.awaitOrders(sale.sku, 2);
      assertThat(ledger.status(lost)).isEqualTo("CONFIRMED");

      consumer.redis().flushDB();
      assertThat(reconcile(consumer, sale).text()).contains("REBUILT");
      assertThat(sale.stock()).isEqualTo(47);
      refusesToWriteAPrivateQueue(consumer.redisDatabase());
    }
  }

  private static Answer reconcile(TestConsumer consumer, AdmittedSale sale) {
    return consumer
        .api()
        .post("/internal/v1/skus/" + sale.sku + "/reconciliation", "{\"dryRun\":false}");
  }

  private static void refusesToWriteAPrivateQueue(RedisDatabase database) {
    try (UnifiedJedis asConsumer = RedisClient.create(database.url("consumer", "secret"))) {
      assertThat(asConsumer.lrange("seckill:{9}:lane:relay:0:token", 0, -1)).isEmpty();
      assertThatExceptionOfType(JedisDataException.class)
          .isThrownBy(() -> asConsumer.del("seckill:{9}:lane:relay:0:token"));
    }
  }

  /** The rules of the template's entry for the consumer, with a password of the test. */
  private static String limitInRedis(RedisDatabase database) {
    CommandArguments setUser = new CommandArguments(Command.ACL).add("SETUSER").add("consumer");
    try {
      rulesOfConsumer().forEach(setUser::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    try (UnifiedJedis redis = RedisClient.create(database.url())) {
      redis.executeCommand(setUser);
    }
    return database.url("consumer", "secret");
  }

  private static List<String> rulesOfConsumer() throws IOException {
    List<String> rules = new ArrayList<>();
    boolean consumer = false;
    for (String line : Files.readAllLines(DEPLOY.resolve("redis/users.acl"))) {
      consumer = line.startsWith("user consumer ") || (consumer && line.startsWith("  "));
      if (consumer) {
        rules.addAll(List.of(line.replace("user consumer", "").strip().split(" +")));
      }
    }
    rules.replaceAll(rule -> rule.startsWith("#") ? ">secret" : rule);
    rules.removeIf(rule -> rule.startsWith("@SINCE"));
    assertThat(rules).contains("on", ">secret", "%R~seckill:{*}:lane:*");
    return rules;
  }

  /** As deploy/rabbitmq/definitions.json. */
  private static String limitInRabbit(RabbitServer server, RabbitVhost vhost) throws IOException {
    String definitions = Files.readString(DEPLOY.resolve("rabbitmq/definitions.json"));
    String ofConsumer = definitions.substring(definitions.indexOf("\"user\": \"consumer\""));
    String user = "consumer-" + vhost.name();
    server.ctl("add_user", user, "secret");
    server.ctl(
        "set_permissions",
        "-p",
        vhost.name(),
        user,
        permission(ofConsumer, "configure"),
        permission(ofConsumer, "write"),
        permission(ofConsumer, "read"));
    return vhost
        .url()
        .replace(server.username() + ":" + server.password() + "@", user + ":secret@");
  }

  private static String permission(String json, String name) {
    int start = json.indexOf('"', json.indexOf("\"" + name + "\":") + name.length() + 3) + 1;
    return json.substring(start, json.indexOf('"', start)).replace("\\\\", "\\");
  }
}
