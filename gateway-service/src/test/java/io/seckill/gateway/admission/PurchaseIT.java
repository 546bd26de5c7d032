package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class PurchaseIT {

  private static UnifiedJedis redis;
  private static GatewayProcess gateway;

  @BeforeAll
  static void start(RedisServer server, MySqlServer mysql) {
    String url = server.newDatabase().url();
    redis = RedisClients.open(RedisSettings.single(url), "test");
    gateway = GatewayProcess.start(url, Ledger.create(mysql));
  }

  @AfterAll
  static void stop() {
    gateway.close();
    redis.close();
  }

  @BeforeEach
  void emptyStore() {
    redis.flushDB();
  }

  @Test
  void answersAPurchaseWithItsOrderAndPutsItInTheOutbox() {
    Sale sale = Sale.open(redis, PurchasePolicy.LIMITED, 5, 10);

    HttpResponse<String> answer = gateway.buy(sale.sku(), 7, "key-0001", 2);

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(202);
    OrderMessage order = sale.outbox().get(0);
    assertThat(answer.body())
        .isEqualTo(
            "{\"orderId\":\"" + order.orderId() + "\",\"status\":\"QUEUED\",\"position\":1}");
    assertThat(answer.headers().firstValue("Location"))
        .contains("/api/v1/orders/" + order.orderId());
    assertThat(answer.headers().firstValue("Idempotency-Key")).contains("key-0001");
    assertThat(answer.headers().firstValue("Content-Type")).contains("application/json");
    assertThat(answer.headers().firstValue("X-Correlation-Id")).isPresent();
    assertThat(order.userId()).isEqualTo(7);
    assertThat(order.quantity()).isEqualTo(2);
    assertThat(sale.stock()).isEqualTo(8);
    assertThat(sale.quota(7)).isEqualTo("2");
  }
}
