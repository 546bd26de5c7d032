package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import ch.qos.logback.classic.Level;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.LoggedLines;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.ShippedUsers;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisDataException;

/** facts.md 14: the rules shipped in deploy/ allow the consumer to reconcile, and nothing more. */
@Tag("proof")
@ExtendWith(TestServers.class)
class ConsumerRedisUserIT {

  private static final String USER = "consumer";

  @Test
  void reconcilesWithTheRightsItIsShippedWith(RabbitServer rabbitServer) throws Exception {
    RabbitVhost rabbit = rabbitServer.newVhost();
    String brokerUrl = ShippedUsers.inRabbit(rabbitServer, rabbit, USER);
    try (TestConsumer consumer =
            TestConsumer.start(
                redis ->
                    Map.of(
                        "seckill.redis.url",
                        limitInRedis(redis),
                        "seckill.broker.urls",
                        brokerUrl));
        OrderFlood flood = new OrderFlood(rabbit)) {
      AdmittedSale sale = new AdmittedSale(consumer, 9001, PurchasePolicy.LIMITED, 5, 50);
      StoredInvariants ledger = new StoredInvariants(consumer.sql());
      OrderMessage stored = sale.admit(1, 2);
      flood.publish(stored);
      ledger.awaitOrders(sale.sku, 1);
      eventually().until(() -> sale.result(stored).equals("C"));
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

  /** As after an upgrade without the Redis users of the new release. */
  @Test
  void saysThatTheRightToScanIsMissingInsteadOfComparing() {
    try (TestConsumer consumer =
        TestConsumer.start(redis -> Map.of("seckill.redis.url", withoutHscan(redis)))) {
      AdmittedSale sale = new AdmittedSale(consumer, 9002, PurchasePolicy.LIMITED, 5, 50);
      Schedule schedule = consumer.bean(Schedule.class);
      schedule.round(); // sees it for the first time

      try (LoggedLines logged = LoggedLines.ofThisThread(Schedule.class)) {
        schedule.round();
        schedule.round();

        assertThat(logged.events())
            .singleElement()
            .satisfies(
                event -> {
                  assertThat(event.getLevel()).isEqualTo(Level.ERROR);
                  assertThat(event.getFormattedMessage())
                      .startsWith("sku " + sale.sku + ": cannot be compared");
                  assertThat(event.getThrowableProxy().getMessage())
                      .startsWith("NOPERM")
                      .contains("hscan");
                });
      }
    }
  }

  private static Answer reconcile(TestConsumer consumer, AdmittedSale sale) {
    return consumer
        .api()
        .post("/internal/v1/skus/" + sale.sku + "/reconciliation", "{\"dryRun\":false}");
  }

  private static void refusesToWriteAPrivateQueue(RedisDatabase database) {
    try (UnifiedJedis asConsumer = RedisClient.create(database.url(USER, ShippedUsers.PASSWORD))) {
      assertThat(asConsumer.lrange("seckill:{9}:lane:relay:0:token", 0, -1)).isEmpty();
      assertThatExceptionOfType(JedisDataException.class)
          .isThrownBy(() -> asConsumer.del("seckill:{9}:lane:relay:0:token"));
    }
  }

  private static String limitInRedis(RedisDatabase database) {
    try (UnifiedJedis redis = RedisClient.create(database.url())) {
      ShippedUsers.inRedis(redis, USER);
    }
    return database.url(USER, ShippedUsers.PASSWORD);
  }

  private static String withoutHscan(RedisDatabase database) {
    String url = limitInRedis(database);
    try (UnifiedJedis redis = RedisClient.create(database.url())) {
      redis.executeCommand(
          new CommandArguments(Command.ACL).addObjects(List.of("SETUSER", USER, "-hscan")));
    }
    return url;
  }
}
