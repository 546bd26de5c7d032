package io.seckill.gateway.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.PurchasePolicy;
import io.seckill.gateway.testing.SeededDatabase;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.gateway.testing.TestSale;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class GatewayRedisUserIT {

  /** All that admission needs; stops and status look-ups need more. */
  private static final String COMMANDS =
      "+@connection +evalsha +eval +wait +info +time +config|get"
          + " +hget +hmget +hgetall +hset +hincrby +hlen +get +set +decrby +llen +lpush +pexpireat";

  @Test
  @DisplayName("ACL rules apply inside scripts: these commands and keys are enough (facts.md 14)")
  void admitsWithNoMoreRightsThanItNeeds(MySqlServer mysql) {
    try (RedisServer server =
            RedisServer.start(
                "user gateway on >secret-word resetchannels ~seckill:* -@all " + COMMANDS);
        UnifiedJedis redis = server.open()) {
      TestSale sale = TestSale.open(redis, PurchasePolicy.LIMITED, 2, 2);
      String url = "redis://gateway:secret-word@127.0.0.1:" + server.port();
      try (TestGateway gateway = SeededDatabase.create(mysql).gateway(url)) {
        assertThat(gateway.buy(1, sale.sku(), 2, "key-0001").status()).isEqualTo(202);
        assertThat(gateway.buy(1, sale.sku(), 2, "key-0001").status()).isEqualTo(202);
        assertThat(gateway.buy(1, sale.sku(), 1, "key-0002").status()).isEqualTo(409);
        assertThat(gateway.buy(2, sale.sku(), 1, "key-0002").status()).isEqualTo(409);
        assertThat(gateway.buy(1, sale.sku(), 2, "key-0001").status()).isEqualTo(202);
        assertThat(sale.outbox()).hasSize(1);
        assertThat(gateway.counter("seckill.redis.errors", "kind", "reply")).isZero();
      }
    }
  }
}
