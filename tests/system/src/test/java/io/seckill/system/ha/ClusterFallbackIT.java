package io.seckill.system.ha;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Shards;
import io.seckill.system.ShardedSale;
import io.seckill.system.faults.OnChannel;
import io.seckill.system.faults.Signals;
import io.seckill.testing.RedisCluster;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** A fallback while one of three primaries of a Redis Cluster is dead: it takes all shards. */
@OnChannel(durableIn = "broker", fallback = "automatic")
@Tag("proof")
@ExtendWith({TestServers.class, ClusterLab.Extension.class})
class ClusterFallbackIT {

  private static final long SKU = 283_001;
  private static final int SHARDS = 4;
  private static final int STOCK = 400;

  private final ClusterLab lab;
  private final RedisCluster redis;
  private final ShardedSale sale = new ShardedSale(SKU, SHARDS, STOCK);

  ClusterFallbackIT(ClusterLab lab) {
    this.lab = lab;
    this.redis = lab.redisServers();
  }

  /** Nothing begins by itself while the other primaries work; an operator may begin it. */
  @Test
  void mySqlDecidesAllShardsWhileOnePrimaryIsDead() throws SQLException {
    Signals.await(
        "gateways to know Redis",
        () ->
            lab.gateways().stream()
                .allMatch(gateway -> gateway.sum("seckill_redis_verified") == 1));
    sale.open(lab.admin());
    assertThat(buy(0, 100)).isEqualTo(Map.of("202", 100));
    String key = RedisKeys.stock(Shards.id(SKU, 0));
    RedisServer primary = redis.primaryOf(key);
    redis.replicaOf(key).kill();
    primary.kill();
    List<Long> others =
        sale.users(
                200,
                shard ->
                    !redis.primaryOf(RedisKeys.stock(Shards.id(SKU, (int) shard))).equals(primary))
            .subList(180, 200);
    assertThat(ShardedSale.codes(sale.buyOnce(lab.shops(), others))).isEqualTo(Map.of("202", 20));
    assertThat(lab.admin().fallback().text("state")).isEqualTo("REDIS");

    assertThat(lab.admin().enterFallback().status()).isEqualTo(200);
    awaitState("MYSQL");
    assertThat(buy(100, 200)).isEqualTo(Map.of("201", 100));

    redis.heal();
    Signals.await("the return", () -> lab.admin().leaveFallback().status() == 200);
    awaitState("REDIS");
    Map<String, Integer> rest = buy(1_000, 1_300);
    assertThat(rest).isEqualTo(Map.of("202", STOCK - 220, "SOLD_OUT", 300 - STOCK + 220));
    assertThat(sale.judgeRebuilt(lab.admin(), lab.sales(), STOCK)).isEqualTo(STOCK);
  }

  private Map<String, Integer> buy(int from, int to) {
    List<Long> users = sale.users(to, shard -> true).subList(from, to);
    return ShardedSale.codes(sale.buy(lab.shops(), users));
  }

  private void awaitState(String state) {
    Signals.await(
        "who decides: " + state, () -> lab.admin().fallback().text("state").equals(state));
  }
}
