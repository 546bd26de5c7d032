package io.seckill.gateway.fallback;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessages;
import io.seckill.common.sale.Shards;
import io.seckill.gateway.testing.SeededDatabase;
import io.seckill.gateway.testing.TestGateway;
import io.seckill.testing.MySqlServer;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.jdbc.core.JdbcTemplate;

/** The promised orders of a SKU with shards, whose rows in MySQL are those of its shards. */
@ExtendWith(TestServers.class)
class PromisedShardsIT {

  private static final long SHARD = Shards.id(1_001, 1);

  @Test
  void anOrderOfAShardIsForgottenOnceTheShardIsSettled(RedisServer redis, MySqlServer mysql) {
    SeededDatabase database = SeededDatabase.create(mysql);
    database.shardedSale(1_001, 2);
    try (TestGateway gateway =
        database.heldGateway(redis.newDatabase().url(), "seckill.fallback=automatic")) {
      PromisedOrders promised = gateway.bean(PromisedOrders.class);
      OrderMessage order = OrderMessages.of(SHARD, 1);
      promised.add(List.of(order));
      assertThat(promised.size()).isOne();

      database.order(order.orderId(), SHARD, order.userId(), "CONFIRMED");
      new JdbcTemplate(database.dataSource())
          .update("UPDATE products SET last_seq = 1, settled = 1 WHERE sku_id = ?", SHARD);

      eventually().until(() -> promised.size() == 0);
    }
  }
}
