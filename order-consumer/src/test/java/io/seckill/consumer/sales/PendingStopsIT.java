package io.seckill.consumer.sales;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.PendingStop;
import io.seckill.common.sale.SaleStates;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Stops of a sale that only one of Redis and MySQL has recorded. */
@ExtendWith(TestServers.class)
class PendingStopsIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(1_101);

  private static final TestConsumer consumer = TestConsumer.shared();
  private static final SaleStates states = new SaleStates(consumer.redis());

  private final long sku = NEXT_SKU.getAndIncrement();

  @ParameterizedTest
  @ValueSource(strings = {"PAUSED", "CLOSED"})
  void aStopThatRedisHasNotedReachesMySqlAndEnds(String state) {
    sale();

    states.stop(stopped(state));

    eventually().until(() -> states.pendingStop(sku).isEmpty());
    assertThat(mysql("state")).isEqualTo(state);
    assertThat(redis("state")).isEqualTo(state);
    assertThat(redis("stateVersion")).isEqualTo(mysql("state_version"));
  }

  @Test
  void aCloseOfAPreheatedSaleThatRedisHasNotedReachesMySqlAndEnds() {
    sale();
    move("CLOSED");
    consumer.api().post("/internal/v1/skus/" + sku + "/preheat");

    assertThat(states.stop(stopped("CLOSED"))).isTrue();

    eventually().until(() -> states.pendingStop(sku).isEmpty());
    assertThat(mysql("state")).isEqualTo("CLOSED");
    assertThat(redis("state")).isEqualTo("CLOSED");
    assertThat(redis("stateVersion")).isEqualTo(mysql("state_version"));
  }

  @Test
  void aStopOfAStrongSaleThatRedisHasNotedReachesMySqlAndEnds() {
    new Sales(consumer).openStrong(sku, "LIMITED", 2, 500);
    long before = Long.parseLong(mysql("state_version"));

    states.stop(stopped("PAUSED")); // by a gateway that did not know the product

    eventually().until(() -> states.pendingStop(sku).isEmpty());
    assertThat(mysql("state")).isEqualTo("PAUSED");
    assertThat(mysql("state_version")).isEqualTo(Long.toString(before + 1));
    assertThat(consumer.redis().exists(RedisKeys.sku(sku))).isFalse();
  }

  /** The gateway has written its half to Redis, or another gateway another stop. */
  @ParameterizedTest
  @CsvSource({
    "        , PAUSED, 200, PAUSED",
    "        , CLOSED, 200, CLOSED",
    "PAUSED, PAUSED, 200, PAUSED",
    "CLOSED, CLOSED, 200, CLOSED",
    "PAUSED, CLOSED, 200, CLOSED",
    "CLOSED, PAUSED, 409, CLOSED"
  })
  void aStopInMySqlEndsTheOneThatWaitsInRedis(
      @Nullable String waiting, String target, int status, String state) {
    sale();
    if (waiting != null) {
      states.stop(stopped(waiting));
    }

    assertThat(move(target).status()).isEqualTo(status);

    assertThat(states.pendingStop(sku)).isEmpty();
    assertThat(mysql("state")).isEqualTo(state);
    assertThat(redis("state")).isEqualTo(state);
    assertThat(redis("stateVersion")).isEqualTo(mysql("state_version"));
  }

  @Test
  void aStopThatWaitsComesBeforeAnOpening() {
    sale();
    long before = Long.parseLong(mysql("state_version"));
    states.stop(stopped("PAUSED"));

    Answer opened = move("OPEN");

    assertThat(opened.text("state")).isEqualTo("OPEN");
    assertThat(opened.number("stateVersion")).isEqualTo(before + 2);
    assertThat(states.pendingStop(sku)).isEmpty();
    assertThat(redis("state")).as("until the gateway opens the sale in Redis").isEqualTo("PAUSED");
  }

  @Test
  void aCloseThatWaitsRefusesAnOpening() {
    sale();
    states.stop(stopped("CLOSED"));

    assertThat(move("OPEN").code()).isEqualTo("ILLEGAL_TRANSITION");
    assertThat(mysql("state")).isEqualTo("CLOSED");
  }

  @Test
  void aStopThatMySqlDoesNotAllowEnds() {
    consumer.api().put("/internal/v1/skus/" + sku, Sales.product("LIMITED", 2, 500));
    states.stop(stopped("CLOSED"));

    eventually().until(() -> states.pendingStop(sku).isEmpty());
    assertThat(mysql("state")).isEqualTo("NEW");
    assertThat(mysql("state_version")).isEqualTo("0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"PAUSED", "CLOSED"})
  void aStopThatOnlyMySqlHasReachesRedis(String state) {
    sale();

    consumer.update(
        "UPDATE products SET state = ?, state_version = state_version + 1 WHERE sku_id = ?",
        state,
        sku);

    eventually().until(() -> redis("state").equals(state));
  }

  @ParameterizedTest
  @ValueSource(strings = {"garbage", "PAUSED|00|x", "CLOSED|999999999999999999|x"})
  void anEntryThatNoServiceHasWrittenEnds(String text) {
    sale();
    String stops = RedisKeys.stops(Partition.ofSku(sku));
    String misplaced = RedisKeys.stops(Partition.ofSku(sku + 1));
    move("PAUSED");

    consumer.redis().hset(stops, Long.toString(sku), text);
    consumer.redis().hset(misplaced, Long.toString(sku), "CLOSED|1790000000000|x");

    eventually().until(() -> !consumer.redis().hexists(stops, Long.toString(sku)));
    eventually().until(() -> !consumer.redis().hexists(misplaced, Long.toString(sku)));
    assertThat(mysql("state")).isEqualTo("PAUSED");
    assertThat(move("OPEN").text("state")).isEqualTo("OPEN");
  }

  /** As if its server was away. */
  @Test
  void aPartitionThatCannotBeReadKeepsNoOtherWaiting() {
    sale();
    long other = NEXT_SKU.getAndIncrement();
    new Sales(consumer).open(other, "LIMITED", 2, 500);
    int partition =
        IntStream.range(0, Partition.COUNT)
            .filter(p -> p != Partition.ofSku(sku) && p != Partition.ofSku(other))
            .findFirst()
            .orElseThrow();
    String unreadable = RedisKeys.stops(partition);
    consumer.redis().set(unreadable, "no hash");
    try {
      states.stop(stopped("PAUSED"));
      consumer.update(
          "UPDATE products SET state = 'CLOSED', state_version = state_version + 1"
              + " WHERE sku_id = ?",
          other);

      eventually().until(() -> states.pendingStop(sku).isEmpty());
      eventually()
          .until(() -> "CLOSED".equals(consumer.redis().hget(RedisKeys.sku(other), "state")));
    } finally {
      consumer.redis().del(unreadable);
    }
  }

  @Test
  void anOpeningGoesOnAboveWhatRedisHasFollowed() { // MySQL was restored from a backup
    sale();
    move("PAUSED");
    consumer.redis().hset(RedisKeys.sku(sku), "stateVersion", "70");

    assertThat(move("OPEN").number("stateVersion")).isEqualTo(71);
  }

  private void sale() {
    new Sales(consumer).open(sku, "LIMITED", 2, 500);
  }

  private PendingStop stopped(String state) {
    return new PendingStop(sku, state, System.currentTimeMillis(), "tester");
  }

  private Answer move(String target) {
    return consumer
        .api()
        .post("/internal/v1/skus/" + sku + "/state", "{\"state\":\"" + target + "\"}");
  }

  private String redis(String field) {
    return String.valueOf(consumer.redis().hget(RedisKeys.sku(sku), field));
  }

  private String mysql(String column) {
    return consumer.product(sku, column);
  }
}
