package io.seckill.common.sale;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.SaleStates.Followed;
import io.seckill.common.sale.SaleStates.Shown;
import io.seckill.common.sale.SaleStates.Stops;
import io.seckill.testing.TestServers;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class SaleStatesIT {

  private static final long SKU = 1_001;
  private static final List<Integer> PARTITIONS =
      IntStream.range(0, Partition.COUNT).boxed().toList();
  private static final PendingStop PAUSE = new PendingStop(SKU, "PAUSED", 1_000, "anna|x");
  private static final PendingStop CLOSE = new PendingStop(SKU, "CLOSED", 2_000, "ben");

  @AutoClose private final UnifiedJedis redis = TestServers.redis().newDatabase().open();

  private final SaleStates states = new SaleStates(redis);

  @BeforeEach
  void connect() {
    redis.hset(RedisKeys.sku(SKU), Map.of("state", "OPEN", "epoch", "3"));
  }

  @Test
  void aStopIsObeyedAtOnceAndKeptUntilMySqlHasIt() {
    assertThat(states.stop(PAUSE)).isTrue();
    assertThat(state()).isEqualTo("PAUSED");
    assertThat(states.pendingStops(PARTITIONS)).containsExactly(PAUSE);

    assertThat(states.follow(SKU, "OPEN", 3, 8, null)).isEqualTo(Followed.STOPPED);
    assertThat(state()).isEqualTo("PAUSED");

    assertThat(states.follow(SKU, "PAUSED", 3, 9, PAUSE)).isEqualTo(Followed.DONE);
    assertThat(states.pendingStop(SKU)).isEmpty();
    assertThat(states.follow(SKU, "OPEN", 3, 10, null)).isEqualTo(Followed.DONE);
    assertThat(state()).isEqualTo("OPEN");
  }

  @Test
  void anOlderStateNeverOverridesANewerOne() {
    states.follow(SKU, "CLOSED", 3, 9, null);

    assertThat(states.follow(SKU, "OPEN", 3, 8, null)).isEqualTo(Followed.NEWER);
    assertThat(state()).isEqualTo("CLOSED");
    assertThat(states.version(SKU)).isEqualTo(9);
  }

  @Test
  void aCloseGoesAboveAPauseAndNotTheOtherWayRound() {
    states.stop(PAUSE);
    assertThat(states.stop(CLOSE)).isTrue();
    assertThat(states.stop(PAUSE)).isFalse();

    assertThat(states.pendingStops(PARTITIONS)).containsExactly(CLOSE);
    assertThat(state()).isEqualTo("CLOSED");
  }

  @Test
  void aPauseThatMySqlHasStoredEndsNoCloseThatCameAfterIt() {
    states.stop(PAUSE);
    states.stop(CLOSE);

    assertThat(states.follow(SKU, "PAUSED", 3, 9, PAUSE)).isEqualTo(Followed.STOPPED);
    assertThat(state()).isEqualTo("CLOSED");
    assertThat(states.pendingStops(PARTITIONS)).containsExactly(CLOSE);
  }

  @Test
  void theFirstOfTwoEqualStopsIsKept() {
    states.stop(PAUSE);
    states.stop(new PendingStop(SKU, "PAUSED", 3_000, "carl"));

    assertThat(states.pendingStops(PARTITIONS)).containsExactly(PAUSE);
  }

  @Test
  void aSaleThatIsNotOpenYetTakesACloseAlone() {
    redis.hset(RedisKeys.sku(SKU), "state", "PREHEATED");

    assertThat(states.stop(PAUSE)).isFalse();
    assertThat(states.pendingStops(PARTITIONS)).isEmpty();
    assertThat(state()).isEqualTo("PREHEATED");

    assertThat(states.stop(CLOSE)).isTrue();
    assertThat(states.pendingStops(PARTITIONS)).containsExactly(CLOSE);
    assertThat(state()).isEqualTo("CLOSED");
  }

  @Test
  void aChangeDuringALoadingIsNotOverriddenAfterIt() {
    redis.hset(RedisKeys.sku(SKU), Map.of("state", "PREHEATING", "epoch", "0", "loading", "4"));

    assertThat(states.follow(SKU, "PAUSED", 4, 9, null)).isEqualTo(Followed.NOT_LOADED);
    assertThat(states.follow(SKU, "OPEN", 4, 8, null)).isEqualTo(Followed.NEWER);
    assertThat(state()).isEqualTo("PREHEATING");
  }

  @Test
  void aStopDuringALoadingIsKeptForItsEnd() {
    redis.hset(RedisKeys.sku(SKU), Map.of("state", "PREHEATING", "epoch", "0", "loading", "4"));

    assertThat(states.stop(CLOSE)).isTrue();
    assertThat(state()).isEqualTo("PREHEATING");
    assertThat(states.pendingStops(PARTITIONS)).containsExactly(CLOSE);

    assertThat(states.stop(PAUSE)).as("the close goes above it").isFalse();
    assertThat(states.pendingStops(PARTITIONS)).containsExactly(CLOSE);
  }

  @Test
  void followsNothingOfAnotherEpoch() {
    assertThat(states.follow(SKU, "CLOSED", 2, 99, null)).isEqualTo(Followed.NOT_LOADED);
    assertThat(state()).isEqualTo("OPEN");
  }

  @Test
  void showsTheStateOfEachSaleThatCanBeRead() {
    states.follow(SKU, "PAUSED", 3, 9, null);
    redis.set(RedisKeys.sku(SKU + 1), "no hash");

    assertThat(states.shown(List.of(SKU, SKU + 1, SKU + 2)))
        .containsExactly(
            Optional.of(new Shown("PAUSED", 9)), Optional.empty(), Optional.of(new Shown("", 0)));
  }

  @Test
  void aStopOfASkuThatNobodyKnowsEndsToo() {
    redis.del(RedisKeys.sku(SKU));
    states.stop(PAUSE);

    assertThat(states.follow(SKU, "PAUSED", 0, 0, PAUSE)).isEqualTo(Followed.NOT_LOADED);
    assertThat(redis.exists(RedisKeys.stops(Partition.ofSku(SKU)))).isFalse();
  }

  @Test
  void anEntryThatNoServiceHasWrittenIsNoStopAndIsRemovedUnlessItHasChanged() {
    int partition = Partition.ofSku(SKU);
    String stops = RedisKeys.stops(partition);
    Map<String, String> wrong =
        Map.of(Long.toString(SKU), "PAUSED|00|x", Long.toString(SKU + 1), "CLOSED|1|x", "x", "");
    redis.hset(stops, wrong);

    assertThat(states.pendingStops(PARTITIONS)).isEmpty();
    assertThat(states.stops(partition)).isEqualTo(new Stops(List.of(), wrong));

    states.stop(CLOSE);
    wrong.forEach((field, text) -> states.removeWrong(partition, field, text));

    assertThat(states.stops(partition)).isEqualTo(new Stops(List.of(CLOSE), Map.of()));
    assertThat(state()).isEqualTo("CLOSED");
  }

  private String state() {
    return redis.hget(RedisKeys.sku(SKU), "state");
  }
}
