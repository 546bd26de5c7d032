package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisSettings;
import io.seckill.gateway.testing.GatewayAnswer;
import io.seckill.gateway.testing.SeededDatabase;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.testing.TestSale;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class RateLimitIT {

  @Test
  void refusesTooManyPurchasesOfAUserOrAnAddressBeforeAdmission(
      RedisServer server, MySqlServer mysql) {
    String url = server.newDatabase().url();
    try (UnifiedJedis redis = RedisClients.open(RedisSettings.single(url), "test");
        TestGateway gateway =
            SeededDatabase.create(mysql)
                .gateway(
                    url,
                    "seckill.limits.user-per-second=0.001",
                    "seckill.limits.user-burst=2",
                    "seckill.limits.address-per-second=0.001",
                    "seckill.limits.address-burst=4",
                    "seckill.limits.trusted-proxies=127.0.0.0/8")) {
      TestSale sale = TestSale.unlimited(redis, 100);

      assertThat(buyFrom("10.0.0.1", gateway, sale, 1).status()).isEqualTo(202);
      assertThat(buyFrom("10.0.0.2", gateway, sale, 1).status()).isEqualTo(202);
      GatewayAnswer tooMany = buyFrom("10.0.0.3", gateway, sale, 1);
      assertThat(tooMany.status()).isEqualTo(429);
      assertThat(tooMany.body()).contains("TOO_MANY_REQUESTS");
      assertThat(tooMany.header("Retry-After")).isNotEmpty();
      assertThat(sale.outbox()).hasSize(2);

      for (int user = 2; user <= 5; user++) {
        assertThat(buyFrom("10.0.0.9", gateway, sale, user).status()).isEqualTo(202);
      }
      assertThat(buyFrom("10.0.0.9", gateway, sale, 6).status()).isEqualTo(429);
      assertThat(buyFrom("6.6.6.6, 10.0.0.9", gateway, sale, 6).status())
          .as("entries to the left of an untrusted hop may be forged")
          .isEqualTo(429);
    }
  }

  private static GatewayAnswer buyFrom(
      String address, TestGateway gateway, TestSale sale, long user) {
    return gateway.post(
        gateway.purchase(user, sale.sku()).header("X-Forwarded-For", address), "{\"quantity\":1}");
  }
}
