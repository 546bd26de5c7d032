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
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
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

  /**
   * Nothing begins by itself while the other primaries work; an operator may begin it, and end it
   * for the shards of the others.
   */
  @Test
  void mySqlDecidesAllShardsWhileOnePrimaryIsDead() throws SQLException {
    Signals.await(
        "gateways to know Redis",
        () ->
            lab.gateways().stream()
                .allMatch(gateway -> gateway.sum("seckill_redis_verified") == 1));
    sale.open(lab.admin());
    assertThat(buyFromRedis(0, 100)).isEqualTo(Map.of("202", 100));
    awaitState("REDIS");
    String key = RedisKeys.stock(Shards.id(SKU, 0));
    RedisServer primary = redis.primaryOf(key);
    redis.replicaOf(key).kill();
    primary.kill();
    LongPredicate isOnOthers =
        shard -> !redis.primaryOf(RedisKeys.stock(Shards.id(SKU, (int) shard))).equals(primary);
    List<Long> others = sale.users(220, isOnOthers);
    assertThat(ShardedSale.codes(sale.buy(lab.shops(), others.subList(180, 200))))
        .isEqualTo(Map.of("202", 20));
    assertThat(lab.admin().fallback().text("state")).isEqualTo("REDIS");

    Signals.await("the fallback", () -> lab.admin().enterFallback().status() == 200);
    awaitState("MYSQL");
    assertThat(buy(100, 200)).isEqualTo(Map.of("201", 100));

    Signals.await("the return", () -> lab.admin().leaveFallback().status() == 200);
    Signals.await("the shards of the others", () -> inFallback(isOnOthers) == 0);
    assertThat(inFallback(isOnOthers.negate())).as("of the dead primary").isPositive();
    assertThat(ShardedSale.codes(sale.buy(lab.shops(), others.subList(200, 220))))
        .isEqualTo(Map.of("202", 20));

    redis.heal();
    awaitState("REDIS");
    Map<String, Integer> rest = buyFromRedis(1_000, 1_300);
    assertThat(rest).isEqualTo(Map.of("202", STOCK - 240, "SOLD_OUT", 300 - STOCK + 240));
    assertThat(sale.judgeRebuilt(lab.admin(), lab.sales(), STOCK)).isEqualTo(STOCK);
  }

  /** Of these shards. */
  private long inFallback(LongPredicate shard) {
    String ids =
        LongStream.range(0, SHARDS)
            .filter(shard)
            .mapToObj(number -> "" + Shards.id(SKU, (int) number))
            .collect(Collectors.joining(","));
    return lab.database()
        .number("SELECT COUNT(*) FROM products WHERE fallback <> 'NO' AND sku_id IN (" + ids + ")");
  }

  private Map<String, Integer> buy(int from, int to) {
    List<Long> users = sale.users(to, shard -> true).subList(from, to);
    return ShardedSale.codes(sale.buy(lab.shops(), users));
  }

  /** Counts what MySQL has sold as sold by Redis, if a stalled machine has begun a fallback. */
  private Map<String, Integer> buyFromRedis(int from, int to) {
    long before = term();
    Map<String, Integer> codes = buy(from, to);
    if (term() > before) {
      codes.merge("202", codes.getOrDefault("201", 0), Integer::sum);
      codes.remove("201");
    }
    return codes;
  }

  /** Raised whenever a fallback begins. */
  private long term() {
    return lab.admin().fallback().json().required("term").asLong();
  }

  private void awaitState(String state) {
    Signals.await(
        "who decides: " + state, () -> lab.admin().fallback().text("state").equals(state));
  }
}
