package io.seckill.consumer.fallback;

import static io.seckill.consumer.fallback.FallbackFixture.admitted;
import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.FallbackMode;
import io.seckill.consumer.products.ExpectedSale;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.testing.ChildProcessesOnly;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisServer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.exceptions.JedisException;

/** What order-consumer has seen in Redis decides what MySQL may sell. */
class SaleObservationsIT extends SaleInFallback {

  @Test
  void theLastLookCountsWhenNoGatewayTells() {
    sale.admit(7, 4);
    awaitLook(4);

    fallback.enter();
    fallback.awaitState("MYSQL");

    assertThat(fallback.number(sku, "reserved_units")).isEqualTo(4);
  }

  /** Redis admits six units more after the last look at it, and order-consumer loses it then. */
  @Tag("proof")
  @ParameterizedTest(name = "transferred {0}, with the orders {1}: {2} reserved")
  @CsvSource({
    "true, false, 10", // as gateways report, and not the 4 of the look
    "true, true, 0", // all are stored
    "false, false, 20" // more may have been promised
  })
  void anOldLookAtRedisDecidesNothing(boolean isTransferred, boolean areStored, long reserved) {
    OrderMessage seen = sale.admit(7, 4);
    awaitLook(4);
    allowLooks(false);
    try {
      OrderMessage[] all = {seen, sale.admit(8, 4), sale.admit(9, 2)};
      if (isTransferred) {
        fallback.enterWith(GATEWAY, admitted(sku, 1, 10), areStored ? all : new OrderMessage[0]);
      } else {
        fallback.beat(GATEWAY, 0, "UNUSABLE", 0);
        fallback.enter();
        fallback.awaitState("MYSQL");
      }

      assertThat(consumer.bean(SaleObservations.class).of(sku).orElseThrow().admittedUnits())
          .as("units in the last look")
          .isEqualTo(4);
      assertThat(fallback.number(sku, "reserved_units")).isEqualTo(reserved);
    } finally {
      allowLooks(true);
    }
  }

  @Test
  void theLooksGoOnWhereTheStockOfASaleIsSomethingElse() {
    consumer.redis().sadd(RedisKeys.stock(1), "foreign");
    try {
      sale.admit(7, 4);
      awaitLook(4);
    } finally {
      consumer.redis().del(RedisKeys.stock(1));
    }
  }

  /** The gateway that dies as well may have promised orders of each. */
  @ChildProcessesOnly
  @Test
  void aDeadNodeOfAClusterKeepsNoSaleOfAnotherNodeFromBeingSeen() {
    try (RedisCluster cluster = RedisCluster.start();
        UnifiedJedis redis = RedisClients.open(settings(cluster), "test")) {
      RedisServer node = cluster.primaryOf(RedisKeys.sku(sku));
      long next = NEXT_SKU.incrementAndGet();
      while (cluster.primaryOf(RedisKeys.sku(next)).equals(node)) {
        next = NEXT_SKU.incrementAndGet();
      }
      AdmittedSale other = new AdmittedSale(consumer, next, PurchasePolicy.LIMITED, 5, 20);
      SaleObservations looks =
          observations(
              FallbackMode.AUTOMATIC, withoutServers(), redis, consumer.bean(GatewayTable.class));
      admitAlsoIn(redis, sale);
      admitAlsoIn(redis, other);
      looks.round();
      admitAlsoIn(redis, other);
      node.kill();
      allowLooks(false);
      SaleObservations ofService = consumer.bean(SaleObservations.class);
      eventually().until(() -> !ofService.isRedisReached()); // and no round is under way
      fallback.beat(2, 0, "USABLE", 0);
      fallsSilent(2, 36);

      assertThatThrownBy(looks::round).as("reported").isInstanceOf(JedisException.class);

      assertThat(looks.isRedisReached()).isTrue();
      assertThat(looks.of(other.sku).orElseThrow().admittedUnits()).isEqualTo(8);
      assertThat(looks.of(sku).orElseThrow().admittedUnits()).as("remembered").isEqualTo(4);
      assertThat(fallback.view().path("gateways").size()).isZero();
      String kept =
          "SELECT units + 100 * unknown_orders FROM admitted_units WHERE epoch = 1 AND sku_id = ";
      assertThat(ledger.number(kept + other.sku)).isEqualTo(8);
      assertThat(ledger.number(kept + sku)).isEqualTo(100);
      execute("UPDATE products SET state = 'CLOSED' WHERE sku_id = " + other.sku);
      other.forget();
    } finally {
      allowLooks(true);
    }
  }

  /** MySQL has the server of the other tests. */
  private static FallbackSales withoutServers() {
    return new FallbackSales(consumer.bean(FallbackDatabase.class)) {
      @Override
      List<ExpectedSale> ofRedis() {
        return super.ofRedis().stream()
            .map(one -> new ExpectedSale(one.id(), one.epoch(), one.lastSeq(), one.changeSeq(), ""))
            .toList();
      }
    };
  }

  private static void admitAlsoIn(UnifiedJedis redis, AdmittedSale sale) {
    sale.admit(7, 4);
    String key = RedisKeys.sku(sale.sku);
    redis.hset(key, consumer.redis().hgetAll(key));
  }

  @Test
  void aLaterLookThatIncludesAllOrdersEndsTheDoubt() {
    String unknown = "SELECT COUNT(*) FROM admitted_units WHERE unknown_orders AND sku_id = " + sku;
    execute("UPDATE products SET last_seq = 5 WHERE sku_id = " + sku);
    fallback.beat(GATEWAY, 0, "USABLE", 0);
    execute("UPDATE gateway_node SET heard_at = heard_at - INTERVAL 36 SECOND");
    eventually().until(() -> ledger.number(unknown) == 1);

    execute("UPDATE products SET last_seq = 0 WHERE sku_id = " + sku);

    eventually().until(() -> ledger.number(unknown) == 0);
  }
}
