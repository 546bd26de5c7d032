package io.seckill.consumer.intake;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.consumer.testing.AdmissionFixture;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.Ports;
import io.seckill.testing.RabbitServer;
import io.seckill.testing.RabbitVhost;
import io.seckill.testing.RedisDatabase;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestAuthority;
import io.seckill.testing.TestAuthority.ServerCertificate;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("proof")
@ChildProcessesOnly
class ConsumerTlsIT {

  @TempDir private static Path directory;

  /** Spring's own connection, which the slow paths use, must use TLS as well. */
  @Test
  void storesOrdersAndTellsOfThemOverTlsOnly() {
    TestAuthority authority = TestAuthority.create(directory, "ours");
    ServerCertificate certificate = authority.issueFor("IP:127.0.0.1");
    int amqps = Ports.free();
    int rediss = Ports.free();
    try (RabbitServer rabbit = rabbit(amqps, certificate);
        RedisServer redis = redis(rediss, certificate)) {
      RedisDatabase database = redis.newDatabase();
      RabbitVhost vhost = rabbit.newVhost();
      Map<String, String> properties =
          Map.of(
              "seckill.redis.url", "rediss://127.0.0.1:" + rediss + "/" + database.number(),
              "seckill.redis.ca-file", authority.certificate().toString(),
              "seckill.broker.urls", tls(vhost, rabbit.port(), amqps),
              "seckill.broker.ca-file", authority.certificate().toString());
      try (TestConsumer consumer = TestConsumer.start(database, vhost, properties)) {
        eventually("intake and Spring's listener have connected, by TLS")
            .untilAsserted(
                () ->
                    assertThat(rabbit.ctl("list_connections", "-q", "ssl", "name").lines())
                        .filteredOn(line -> line.matches("(true|false)\\s.*"))
                        .hasSizeGreaterThan(1)
                        .allMatch(line -> line.startsWith("true")));

        storesAnOrder(consumer, vhost);
      }
    }
  }

  private static void storesAnOrder(TestConsumer consumer, RabbitVhost vhost) {
    new Sales(consumer).open(1001, "UNLIMITED", 0, 100);
    AdmissionFixture admissions = new AdmissionFixture(consumer.redis());
    OrderMessage order = OrderFlood.order(1001, PurchasePolicy.UNLIMITED, 1, 1);
    admissions.admit(order);
    try (OrderFlood flood = new OrderFlood(vhost)) {
      flood.publish(order);

      eventually().until(() -> admissions.result(order).equals("C"));
    }
  }

  private static String tls(RabbitVhost vhost, int plainPort, int tlsPort) {
    return vhost
        .url()
        .replace("amqp:", "amqps:")
        .replace(":" + plainPort + "/", ":" + tlsPort + "/");
  }

  private static RabbitServer rabbit(int tlsPort, ServerCertificate certificate) {
    return RabbitServer.start(certificate.forRabbit(tlsPort));
  }

  private static RedisServer redis(int tlsPort, ServerCertificate certificate) {
    return RedisServer.start(certificate.forRedis(tlsPort));
  }
}
