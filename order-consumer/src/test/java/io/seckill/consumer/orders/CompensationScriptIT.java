package io.seckill.consumer.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.LuaScript;
import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.RedisServer;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class CompensationScriptIT {

  private static final long SKU = 21;
  private static final int MOST = 128;
  private static final long EXPIRES = 4_000_000_000_000L;

  private final LuaScript script = LuaScript.from(Compensations.class, "compensate.lua");

  @AutoClose private final UnifiedJedis redis = TestServers.redis().newDatabase().open();

  @BeforeEach
  void saleOfEpochThree() {
    preheat(redis, "7");
  }

  private static void preheat(UnifiedJedis redis, String stock) {
    redis.hset(
        RedisKeys.sku(SKU),
        Map.of("epoch", "3", "bucketCount", "4", "expiresAt", Long.toString(EXPIRES)));
    redis.set(RedisKeys.stock(SKU), stock);
  }

  @Test
  void givesStockAndQuotaOncePerOrder() { // I7
    admit("900", 5, 4);

    assertThat(give("900", 5, 3, 2, 3)).isEqualTo(1);
    assertThat(give("900", 5, 3, 2, 3)).isEqualTo(2);

    assertThat(redis.get(RedisKeys.stock(SKU))).isEqualTo("9");
    assertThat(redis.hget(RedisKeys.bucket(SKU, 1), "5:")).isEqualTo("1");
    assertThat(redis.hget(RedisKeys.bucket(SKU, 1), "compensated:900")).isEqualTo("2:3");
    assertThat(redis.pexpireTime(RedisKeys.bucket(SKU, 1))).isEqualTo(EXPIRES);
  }

  @Test
  void givesEachKindByItself() {
    admit("900", 5, 3);
    admit("901", 5, 1);

    assertThat(give("900", 5, 3, 2, 0)).isEqualTo(1);
    assertThat(give("901", 5, 3, 0, 1)).isEqualTo(1);

    assertThat(redis.get(RedisKeys.stock(SKU))).isEqualTo("9");
    assertThat(redis.hget(RedisKeys.bucket(SKU, 1), "5:")).isEqualTo("3");
  }

  @Test
  void neverTakesAQuotaBelowZero() {
    admit("900", 5, 1);

    give("900", 5, 3, 0, 4);

    assertThat(redis.hexists(RedisKeys.bucket(SKU, 1), "5:")).isFalse();
  }

  @Test
  void changesNothingForAnOlderEpoch() {
    assertThat(give("900", 5, 2, 2, 2)).isEqualTo(3);

    assertThat(redis.get(RedisKeys.stock(SKU))).isEqualTo("7");
    assertThat(redis.exists(RedisKeys.bucket(SKU, 1))).isFalse();
  }

  @Test
  void saysWhichEpochTookTheUnitsOfAnOlderDeadLetter() {
    redis.hset(
        RedisKeys.bucket(SKU, 1),
        Map.of(
            "900", "5|2|17|1760000000123|3|RD|1760000000999",
            "901", "5|2|18|1760000000123|2|D|",
            "902", "no record",
            "compensated:903", "2:2"));

    assertThat(script.call(redis, keys(), arguments("900", 5, 2, 2, 2))).isEqualTo("3");
    assertThat(give("901", 5, 2, 2, 2)).as("restored, never taken").isEqualTo(3);
    assertThat(give("902", 5, 2, 2, 2)).isEqualTo(3);
    assertThat(give("903", 5, 2, 2, 2)).isEqualTo(3);
    assertThat(redis.get(RedisKeys.stock(SKU))).isEqualTo("7");
  }

  @Test
  void waitsForTheEpochTheUnitsBelongTo() {
    assertThat(give("900", 5, 4, 2, 2)).isEqualTo(-1);

    assertThat(redis.get(RedisKeys.stock(SKU))).isEqualTo("7");
  }

  @Test
  void owesNothingToASaleThatIsGone() {
    redis.del(RedisKeys.sku(SKU));

    assertThat(give("900", 5, 3, 2, 2)).isEqualTo(4);
  }

  @Test
  void changesNothingWhenAKeyIsOfAnotherType() { // facts.md 1, fault 9
    redis.set(RedisKeys.bucket(SKU, 1), "foreign");

    assertThat(give("900", 5, 3, 2, 2)).isEqualTo(-1);

    assertThat(redis.get(RedisKeys.stock(SKU))).isEqualTo("7");
  }

  /** A script is not rolled back: its first write would make the rest count as done. */
  @Test
  void changesNothingOfASaleThatItCannotRead() {
    String bucket = RedisKeys.bucket(SKU, 1);
    admit("900", 5, 3);
    Map<String, String> fields = redis.hgetAll(RedisKeys.sku(SKU));
    for (String field : fields.keySet()) {
      redis.hset(RedisKeys.sku(SKU), field, "foreign");
      assertThat(give("900", 5, 3, 2, 2)).as(field).isEqualTo(-1);
      redis.hset(RedisKeys.sku(SKU), fields);
    }
    redis.set(RedisKeys.stock(SKU), "foreign");
    assertThat(give("900", 5, 3, 2, 2)).as("stock").isEqualTo(-1);
    redis.set(RedisKeys.stock(SKU), "7");
    redis.hset(bucket, "5:", "foreign");
    assertThat(give("900", 5, 3, 2, 2)).as("quota").isEqualTo(-1);
    redis.hset(bucket, "5:", "3");

    assertThat(give("900", 5, 3, 2, 2)).as("the first that changes anything").isEqualTo(1);
    assertThat(redis.get(RedisKeys.stock(SKU))).isEqualTo("9");
    redis.set(RedisKeys.sku(SKU), "foreign");
    assertThat(give("900", 5, 3, 2, 2)).as("rules").isEqualTo(-1);
  }

  @Test
  void neverMakesStockFromNothing() {
    redis.del(RedisKeys.stock(SKU));

    assertThat(give("900", 5, 3, 2, 2)).isEqualTo(-1);

    assertThat(redis.exists(RedisKeys.stock(SKU))).isFalse();
  }

  @Test
  void findsTheBucketOfAUserBeyondWhatADoubleHolds() {
    long user = Long.MAX_VALUE;
    admit("900", user, 1);

    give("900", user, 3, 1, 0);

    assertThat(redis.hexists(RedisKeys.bucket(SKU, RedisKeys.bucketOf(user, 4)), "compensated:900"))
        .isTrue();
  }

  @Test
  void worksWhenRedisIsFull() { // facts.md 6
    try (RedisServer full = RedisServer.start("maxmemory-policy noeviction");
        UnifiedJedis client = full.newDatabase().open()) {
      preheat(client, "7");
      client.hset(RedisKeys.bucket(SKU, 1), "900", record(5, 1));
      client.configSet("maxmemory", "1");

      assertThat(script.call(client, keys(), arguments("900", 5, 3, 1, 0))).isEqualTo(1L);
    }
  }

  @Test
  void givesNothingForAnOrderThatRedisDoesNotKnow() { // I7: forgotten, or never admitted
    assertThat(give("900", 5, 3, 2, 2)).as("no bucket").isEqualTo(2);
    redis.hset(RedisKeys.bucket(SKU, 1), "5:", "4");
    assertThat(give("900", 5, 3, 2, 2)).as("no record").isEqualTo(2);

    assertThat(redis.get(RedisKeys.stock(SKU))).isEqualTo("7");
    assertThat(redis.hgetAll(RedisKeys.bucket(SKU, 1))).isEqualTo(Map.of("5:", "4"));
  }

  @Test
  void keepsABucketSmallHoweverOftenItsUserBuysAndCancels() {
    String bucket = RedisKeys.bucket(SKU, 1);
    admit("1", 9, 2);
    for (int order = 1_000; order < 4_000; order++) {
      admit(Integer.toString(order), 5, 1);
      give(Integer.toString(order), 5, 3, 1, 1);
    }

    assertThat(redis.get(RedisKeys.stock(SKU))).isEqualTo("3007");
    assertThat(redis.hgetAll(bucket))
        .as("two fields and a quota of the order on hand, four of each that has ended")
        .hasSize(3 + 4 * MOST + 1)
        .containsKeys("1", "9:key-1", "9:", "3999", "5:key-3999", "3872", "5:key-3872")
        .doesNotContainKeys("3871", "5:key-3871", "compensated:3871", "5:")
        .containsEntry(RedisKeys.ENDED_RANGE, "2873:3001");
    assertThat(give("3871", 5, 3, 1, 1)).as("delivered again after it was forgotten").isEqualTo(2);
    assertThat(redis.get(RedisKeys.stock(SKU))).isEqualTo("3007");
  }

  @Test
  void forgetsOrdersThatEndedAnHourAgoAFewAtATime() {
    String bucket = RedisKeys.bucket(SKU, 1);
    long hourAgo = System.currentTimeMillis() - 3_600_000;
    for (int order = 1; order <= 6; order++) {
      admit("90" + order, 5, 1);
      give("90" + order, 5, 3, 1, 1);
    }
    for (int order = 1; order <= 4; order++) {
      String entry = "90" + order + ":5:" + hourAgo + ":key-90" + order;
      redis.hset(bucket, RedisKeys.endedField(order), entry);
    }
    redis.hset(bucket, "5:key-902", "77:1"); // that request has another order now
    redis.hset(bucket, RedisKeys.endedField(3), "unreadable");
    redis.hdel(bucket, RedisKeys.endedField(4));
    admit("907", 5, 1);

    give("907", 5, 3, 1, 1);

    assertThat(redis.hgetAll(bucket))
        .containsKeys("905", "906", "5:key-902", "ended:5", "ended:7")
        .doesNotContainKeys("901", "5:key-901", "compensated:901", "902", "ended:1", "ended:3")
        .containsEntry(RedisKeys.ENDED_RANGE, "5:8");
  }

  /** Writes what admit.lua does of an order of this user, in the user's bucket. */
  private void admit(String order, long user, int units) {
    String bucket = RedisKeys.bucket(SKU, RedisKeys.bucketOf(user, 4));
    redis.hset(
        bucket, Map.of(order, record(user, units), user + ":key-" + order, order + ":" + units));
    redis.hincrBy(bucket, user + ":", units);
  }

  private static String record(long user, int units) {
    return user + "|" + units + "|17|1760000000123|3|X|1760000000999";
  }

  private long give(String order, long user, long epoch, int stock, int quota) {
    return (Long) script.call(redis, keys(), arguments(order, user, epoch, stock, quota));
  }

  private static List<String> keys() {
    return List.of(RedisKeys.sku(SKU));
  }

  private static List<String> arguments(String order, long user, long epoch, int stock, int quota) {
    return List.of(
        RedisKeys.prefix(Partition.ofSku(SKU)),
        Long.toString(SKU),
        Long.toString(user),
        order,
        Long.toString(epoch),
        Integer.toString(stock),
        Integer.toString(quota),
        "key-" + order);
  }
}
