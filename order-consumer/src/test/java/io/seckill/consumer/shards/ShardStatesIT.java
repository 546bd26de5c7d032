package io.seckill.consumer.shards;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A SKU and its shards have one state. */
@ExtendWith(TestServers.class)
class ShardStatesIT extends SkuInShards {

  @Test
  void aSkuAndItsShardsHaveOneStateAndItsStockIsSplit() {
    double breakerChanges = breakerChanges();
    assertThat(api.put(path, product(403)).status()).isEqualTo(201);
    assertThat(rows("sku_id")).isEmpty();

    assertThat(api.post(path + "/preheat").status()).isEqualTo(200);

    assertThat(consumer.product(sku, "stock")).isEqualTo("3");
    assertThat(rows("stock")).containsOnly("100");
    assertThat(rows("state")).containsOnly("PREHEATED");
    assertThat(inRedis("state")).containsOnly("PREHEATED");
    assertThat(api.put(path, product(403).replace("\"shards\":4", "\"shards\":8")).field())
        .isEqualTo("shards");

    assertThat(sent("open").text("state")).isEqualTo("OPEN");
    assertThat(rows("state")).containsOnly("OPEN");
    assertInRedis("OPEN", shards, breakerChanges);

    String later = product(403).replace("2036-01-01", "2036-01-02");
    eventually().until(() -> api.put(path, later).status() == 200); // a breaker may be open
    assertThat(rows("CAST(closes_at AS CHAR)")).allMatch(time -> time.startsWith("2036-01-02"));
    assertThat(inRedis("closesAt")).doesNotContain("2082758400123").hasSize(1);

    // As a gateway writes it whose call of order-consumer got lost.
    long shard = shards.get(2);
    new SaleStates(redis)
        .stop(
            new PendingStop(shard, SaleState.PAUSED.name(), System.currentTimeMillis(), "tester"));
    eventually().until(() -> inRedis("state").equals(Set.of("PAUSED")));
    assertThat(rows("state")).containsOnly("PAUSED");
    assertThat(consumer.product(sku, "state")).isEqualTo("PAUSED");

    assertThat(sent("resume").text("state")).isEqualTo("OPEN");
    assertInRedis("OPEN", shards, breakerChanges);
    assertThat(state("CLOSED").text("state")).isEqualTo("CLOSED");
    assertInRedis("CLOSED", shards, breakerChanges);
    assertThat(rows("state")).containsOnly("CLOSED");
  }

  @Test
  void aShardThatDoesNotAnswerKeepsNoOtherFromAnOpening() {
    callsWhileShardsAreAway("open", 1, 200);
  }

  @Tag("proof")
  @ParameterizedTest
  @CsvSource({"1, 200", "4, 503"})
  void shardsThatDoNotAnswerKeepNoOtherFromAResume(int away, int status) {
    callsWhileShardsAreAway("resume", away, status);
  }

  /** Redis refuses calls for the pending stops of a shard, as if its primary was away. */
  private void callsWhileShardsAreAway(String call, int away, int status) {
    api.put(path, product(400));
    eventually().until(() -> api.post(path + "/preheat").status() == 200); // a breaker may be open
    if (call.equals("resume")) {
      sent("open");
      state("PAUSED");
    }
    String before = consumer.product(sku, "state");
    List<String> stops =
        shards.stream().limit(away).map(id -> RedisKeys.stops(Partition.ofSku(id))).toList();
    stops.forEach(key -> redis.set(key, "no hash"));
    Answer answer = api.post(path + "/" + call);
    String firstShard = redis.hget(RedisKeys.sku(shards.get(0)), "state");
    stops.forEach(redis::del);

    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertThat(firstShard).isEqualTo(before);
    String after = status == 200 ? "OPEN" : before;
    assertThat(consumer.product(sku, "state")).isEqualTo(after);
    assertThat(rows("state")).containsOnly(after);
    eventually().until(() -> inRedis("state").equals(Set.of(after)));
    eventually().until(() -> api.post(path + "/" + call).status() == 200); // a breaker may be open
    state("CLOSED");
  }

  /** Its node came back without data, or with older data. */
  @ParameterizedTest
  @CsvSource({"lost, 1, 200, OPEN", "behind, 3, 200, OPEN", "lost, 4, 409, PAUSED"})
  void aShardWithoutItsDataKeepsNoOtherFromAResume(
      String is, int shardsWithout, int status, String state) {
    double breakerChanges = breakerChanges();
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    state("PAUSED");
    List<Long> without = shards.subList(0, shardsWithout);
    for (long shard : without) {
      if (is.equals("lost")) {
        redis.del(RedisKeys.sku(shard), RedisKeys.stock(shard));
      } else {
        consumer.update("UPDATE products SET change_seq = 1 WHERE sku_id = ?", shard);
      }
    }

    Answer answer = sent("resume");

    assertThat(answer.status()).as(answer.text()).isEqualTo(status);
    assertThat(rows("state")).containsOnly(state);
    assertInRedis(state, shards.subList(shardsWithout, 4), breakerChanges);
    eventually()
        .until(
            () -> {
              api.post(path + "/reconciliation", "{\"dryRun\":false}");
              return inRedis("state").equals(Set.of(state))
                  && rows("change_seq").equals(Set.of("0")); // all are rebuilt
            });
    state("CLOSED");
  }

  /**
   * The server of some was away at the pause and at the resume, and records the stop only now. That
   * of another may have come back without data. A stop without a witness stops all.
   */
  @ParameterizedTest(name = "late: {0}, lost: {1}")
  @CsvSource({"1, 0, OPEN", "1, 1, OPEN", "2, 0, OPEN", "3, 1, PAUSED", "4, 0, PAUSED"})
  void aStopOfAShardThatHasMissedTheResumeStopsNoOther(int late, int lost, String state) {
    api.put(path, product(400));
    api.post(path + "/preheat");
    sent("open");
    String opened = consumer.product(shards.get(0), "state_version");
    state("PAUSED");
    sent("resume");
    eventually().until(() -> inRedis("state").equals(Set.of("OPEN"))); // a breaker may be open
    List<Long> missed = shards.subList(0, late);
    List<Long> kept = shards.subList(0, 4 - lost);
    shards.stream().skip(4 - lost).forEach(id -> redis.del(RedisKeys.sku(id), RedisKeys.stock(id)));

    redis.eval( // at once: the sweep never sees only some of it
        """
        for i = 1, #KEYS, 2 do
          redis.call('HSET', KEYS[i], 'state', 'PAUSED', 'stateVersion', ARGV[1])
          redis.call('HSET', KEYS[i + 1], ARGV[1 + (i + 1) / 2], ARGV[#ARGV])
        end
        """,
        missed.stream()
            .flatMap(id -> Stream.of(RedisKeys.sku(id), RedisKeys.stops(Partition.ofSku(id))))
            .toList(),
        Stream.of(
                Stream.of(opened),
                missed.stream().map(String::valueOf),
                Stream.of("PAUSED|1790000000000|tester"))
            .flatMap(args -> args)
            .toList());

    SaleStates states = new SaleStates(redis);
    eventually().until(() -> missed.stream().allMatch(id -> states.pendingStop(id).isEmpty()));
    eventually().until(() -> inRedis("state", kept).equals(Set.of(state)));
    assertThat(rows("state")).containsOnly(state);
    assertThat(consumer.product(sku, "state")).isEqualTo(state);
    state("CLOSED");
  }

  @Test
  void aShardThatDoesNotAnswerKeepsNoOtherFromALaterClosing() {
    api.put(path, product(400));
    api.post(path + "/preheat");
    String away = RedisKeys.sku(shards.get(0));
    Map<String, String> sale = redis.hgetAll(away);
    redis.del(away);
    redis.set(away, "foreign");
    String later = product(400).replace("2036-01-01", "2036-01-02");

    Answer answer = api.put(path, later);
    Set<String> closing = inRedis("closesAt", shards.subList(1, 4));
    redis.del(away);
    redis.hset(away, sale);

    assertThat(answer.status()).as(answer.text()).isEqualTo(503);
    assertThat(closing).doesNotContain(sale.get("closesAt")).hasSize(1);
    eventually().until(() -> api.put(path, later).status() == 200); // a breaker may be open
    assertThat(inRedis("closesAt")).isEqualTo(closing);
    state("CLOSED");
  }

  /** A shard that was never loaded sells nothing, and is closed with the others. */
  @ParameterizedTest
  @ValueSource(strings = {"preheat", "archive"})
  void aSkuWhoseFirstPreheatHasFailedHalfwayIsClosed(String then) {
    api.put(path, product(400));
    String foreign = RedisKeys.stock(shards.get(1));
    redis.lpush(foreign, "foreign");
    assertThat(api.post(path + "/preheat").code()).isEqualTo("FOREIGN_KEY");
    assertThat(rows("state")).containsExactlyInAnyOrder("PREHEATED", "NEW");
    Answer opened = sent("open");
    assertThat(opened.code()).as(opened.text()).isEqualTo("NOT_PREHEATED");
    assertThat(opened.text("detail")).contains("Not all of its shards are loaded");

    Answer closed = state("CLOSED");

    redis.del(foreign);
    assertThat(closed.status()).as(closed.text()).isEqualTo(200);
    assertThat(rows("state")).containsOnly("CLOSED");
    Answer answer = api.post(path + "/" + then);
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    state("CLOSED");
  }

  /** At once; only shards that a breaker has kept a call from follow later. */
  private static void assertInRedis(String state, List<Long> ids, double breakerChanges) {
    if (breakerChanges() > breakerChanges) {
      eventually().until(() -> Set.of(state).containsAll(inRedis("state", ids)));
    }
    assertThat(inRedis("state", ids)).isSubsetOf(state);
  }

  private static double breakerChanges() {
    return consumer
        .bean(MeterRegistry.class)
        .get("seckill.breaker.transitions")
        .tag("breaker", "redis")
        .counters()
        .stream()
        .mapToDouble(Counter::count)
        .sum();
  }
}
