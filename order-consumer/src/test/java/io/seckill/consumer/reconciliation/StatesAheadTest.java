package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.seckill.common.redis.RedisKeys;
import io.seckill.testing.CannedRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

class StatesAheadTest {

  private static final long UNREADABLE = 1_007;
  private static final List<Long> SKUS =
      LongStream.range(1_001, 1_001 + 10L * StatesAhead.PAGE).boxed().toList();

  private final AtomicLong now = new AtomicLong();
  private boolean answers = true;
  private final List<String> keys = new ArrayList<>();
  private final CannedRedis redis = new CannedRedis(this::reply);
  private final StatesAhead states = new StatesAhead(new RedisSale(redis), SKUS, now::get);

  /** Each cost two. */
  @Test
  void aPageOfSalesCostsOneRoundTrip() {
    List<Long> readable = SKUS.stream().filter(sku -> sku != UNREADABLE).toList();

    assertThat(readable).allMatch(sku -> states.of(sku).seq() == sku);

    assertThat(redis.roundTrips()).isEqualTo(10);
    assertThat(keys.subList(0, 2))
        .as("the stock first: an admission in between shows in the sequence")
        .containsExactly(RedisKeys.stock(SKUS.get(0)), RedisKeys.sku(SKUS.get(0)));
  }

  @Test
  void aSaleThatCannotBeReadFailsAlone() {
    assertThatThrownBy(() -> states.of(UNREADABLE)).isInstanceOf(JedisDataException.class);
    int before = redis.roundTrips();

    assertThat(states.of(UNREADABLE + 1).stock()).isEqualTo("5");

    assertThat(redis.roundTrips()).isEqualTo(before);
  }

  @Test
  void readsAgainAfterASecond() {
    states.of(SKUS.get(0));
    now.addAndGet(StatesAhead.FRESH.toNanos() - 1);
    states.of(SKUS.get(1));
    assertThat(redis.roundTrips()).isEqualTo(1);

    now.incrementAndGet();
    states.of(SKUS.get(2));

    assertThat(redis.roundTrips()).isEqualTo(2);
  }

  @Test
  void aReadThatFailsCountsForNothing() {
    states.of(SKUS.get(0));
    now.addAndGet(StatesAhead.FRESH.toNanos());
    answers = false;
    assertThatThrownBy(() -> states.of(SKUS.get(1))).isInstanceOf(JedisConnectionException.class);
    answers = true;
    keys.clear();

    states.of(SKUS.get(1));

    assertThat(keys).contains(RedisKeys.sku(SKUS.get(1)));
  }

  @Test
  void readsASaleThatIsNotOneOfThemAlone() {
    assertThat(states.of(4_711).seq()).isEqualTo(4_711);

    assertThat(redis.roundTrips()).isEqualTo(2);
  }

  /** To GET of a stock, and HGETALL of a sale. */
  private Object reply(List<String> command) {
    if (!answers) {
      throw new JedisConnectionException("Redis does not answer.");
    }
    String key = command.get(1);
    keys.add(key);
    if (command.get(0).equals("GET")) {
      return key.equals(RedisKeys.stock(UNREADABLE))
          ? new JedisDataException("WRONGTYPE of this sale")
          : "5";
    }
    return List.of("seq", key.substring(key.lastIndexOf(':') + 1));
  }
}
