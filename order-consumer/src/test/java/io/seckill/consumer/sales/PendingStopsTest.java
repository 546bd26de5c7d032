package io.seckill.consumer.sales;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.SalePhase;
import io.seckill.common.sale.SaleState;
import io.seckill.common.sale.SaleStates;
import io.seckill.common.sale.Shards;
import io.seckill.consumer.products.Product;
import io.seckill.consumer.products.ProductInPhase;
import io.seckill.consumer.products.Products;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.support.web.AuditLog;
import io.seckill.testing.CannedRedis;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.support.TransactionOperations;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisDataException;

/** Nothing can be written of either sale, unless MySQL has a row. */
class PendingStopsTest {

  private static final long ONE = 1_001;
  private static final long OTHER = ONE + Partition.COUNT;
  private static final String STOPS = RedisKeys.stops(Partition.ofSku(ONE));
  private static final String STOP = "PAUSED|1790000000000|tester";

  private final List<Long> locked = new ArrayList<>();
  private final List<List<String>> removed = new ArrayList<>();
  private final List<String> followed = new ArrayList<>();
  private final Map<Long, Product> rows = new HashMap<>();
  private List<String> stops = List.of();
  private final CannedRedis redis = new CannedRedis(this::reply);
  private final PendingStops pending = pendingStops();
  private RuntimeException failure = new IllegalStateException("for the test");
  private boolean isRedisAway;
  private List<Products.StateToFollow> toFollow = List.of(closed(ONE), closed(OTHER));
  private RuntimeException follows = new JedisDataException("WRONGTYPE of this sale");

  /** What HMGET answers of every sale. */
  private Object shown = List.of("OPEN", "1");

  @Test
  void aStopThatMySqlRefusesKeepsNoOtherWaiting() {
    stops = List.of(Long.toString(ONE), STOP, Long.toString(OTHER), STOP);

    sweep();

    assertThat(locked).containsExactlyInAnyOrder(ONE, OTHER);
  }

  @Test
  void aStateThatRedisRefusesKeepsNoOtherWaiting() {
    sweep();

    assertThat(followed).containsExactly(RedisKeys.sku(ONE), RedisKeys.sku(OTHER));
  }

  /** Each of them cost a call in every round until its closing time. */
  @Test
  void readsTheStatesThatRedisHasFollowedInOneRoundTrip() {
    toFollow = LongStream.range(0, 1_000).mapToObj(n -> closed(ONE + n)).toList();
    shown = List.of("CLOSED", "2");

    sweep();

    assertThat(followed).isEmpty();
    assertThat(redis.roundTrips()).as("the stops, and the states").isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({
    "CLOSED, 2, false",
    ", , false",
    "CLOSED, 1, true",
    "CLOSED, , true",
    "CLOSED, garbage, true",
    "OPEN, 1, true",
    "OPEN, 2, true",
    "PAUSED, 2, true",
    "PREHEATING, 1, true"
  })
  void writesAStateThatRedisHasMissed(
      @Nullable String state, @Nullable String version, boolean isMissed) {
    toFollow = List.of(closed(ONE));
    shown = Arrays.asList(state, version);

    sweep();

    assertThat(followed).hasSize(isMissed ? 1 : 0);
  }

  @Test
  void aSaleWhoseStateCannotBeReadKeepsNoOtherWaiting() {
    shown = new JedisDataException("WRONGTYPE of this sale");

    sweep();

    assertThat(followed).containsExactly(RedisKeys.sku(ONE), RedisKeys.sku(OTHER));
  }

  /** Each state waited for an answer. */
  @Test
  void asksAPartOfRedisThatStopsAnsweringAFewTimesOnly() {
    toFollow = LongStream.range(0, 20).mapToObj(n -> closed(ONE + n * Partition.COUNT)).toList();
    follows = new JedisConnectionException("for the test");

    sweep();

    assertThat(followed).hasSizeLessThan(5);
  }

  /** They would stay for good: no script would find them equal to a stop, or in its partition. */
  @ParameterizedTest
  @CsvSource({
    "1001, garbage",
    "1001, ''",
    "1001, PAUSED|00|x",
    "1001, CLOSED|1000000000000000|x",
    "1001, OPEN|1|x",
    "01001, PAUSED|1|x",
    "1002, PAUSED|1|x",
    "none, PAUSED|1|x"
  })
  void removesAnEntryThatNoServiceHasWritten(String field, String text) {
    stops = List.of(Long.toString(OTHER), STOP, field, text);

    sweep();

    assertThat(removed).containsExactly(List.of(field, text));
    assertThat(locked).as("the other is written to MySQL").containsExactly(OTHER);
  }

  /** A fallback may begin meanwhile, which raises the number once, and once more when it sells. */
  @ParameterizedTest
  @CsvSource({"REDIS, 5", "ENTERING, 5", "ENTERING, 6", "MYSQL, 5", "MYSQL, 7", "LOADING, 5"})
  void aStopThatRedisHadReachesMySqlWithoutRedis(SalePhase phase, long stateVersion) {
    stops = List.of(Long.toString(ONE), STOP);
    sweep();
    isRedisAway = true;
    sweep();
    Product sold = ProductInPhase.open(ONE, phase, stateVersion);
    rows.put(ONE, sold);

    sweep();
    sweep();

    assertThat(sold.state()).isEqualTo(SaleState.PAUSED);
    assertThat(locked).as("until MySQL has it").containsExactly(ONE, ONE, ONE);
  }

  @Test
  void aStopOfAShardThatRedisHadReachesItsSkuAndTheOtherShardsWithoutRedis() {
    List<Long> shards = Shards.ids(ONE, 2);
    stops = List.of(Long.toString(shards.get(0)), STOP);
    sweep();
    isRedisAway = true;
    rows.put(ONE, ProductInPhase.open(ONE, SalePhase.SHARDED, 9, 2));
    shards.forEach(id -> rows.put(id, ProductInPhase.open(id, SalePhase.REDIS, 5)));

    sweep();

    assertThat(rows.values()).extracting(Product::state).containsOnly(SaleState.PAUSED);
  }

  /** An operator may have resumed it. */
  @ParameterizedTest
  @CsvSource({"REDIS, 4", "REDIS, 7", "ENTERING, 4", "ENTERING, 8", "MYSQL, 9", "LOADING, 8"})
  void aStopThatRedisHadStopsNoSaleThatHasChangedSince(SalePhase phase, long stateVersion) {
    stops = List.of(Long.toString(ONE), STOP);
    sweep();
    isRedisAway = true;
    Product sold = ProductInPhase.open(ONE, phase, stateVersion);
    rows.put(ONE, sold);

    sweep();
    sweep();

    assertThat(sold.state()).isEqualTo(SaleState.OPEN);
    assertThat(locked).as("once after Redis went away").containsExactly(ONE, ONE);
  }

  /** In a fallback the sale may have been resumed without Redis. */
  @ParameterizedTest
  @CsvSource({
    "REDIS, 5, PAUSED",
    "REDIS, 7, PAUSED",
    "ENTERING, 6, PAUSED",
    "ENTERING, 8, OPEN",
    "MYSQL, 5, PAUSED",
    "MYSQL, 7, PAUSED",
    "MYSQL, 9, OPEN",
    "LOADING, 5, PAUSED",
    "LOADING, 10, OPEN",
    "RETURNING, 11, OPEN"
  })
  void aStopThatIsBackWithRedisStopsNoSaleThatHasChangedInItsFallback(
      SalePhase phase, long stateVersion, SaleState state) {
    stops = List.of(Long.toString(ONE), STOP);
    Product sold = ProductInPhase.open(ONE, phase, stateVersion);
    rows.put(ONE, sold);

    sweep();

    assertThat(sold.state()).isEqualTo(state);
    assertThat(followed)
        .as("with the end of the stop, and then each that MySQL has")
        .containsExactly(RedisKeys.sku(ONE), RedisKeys.sku(ONE), RedisKeys.sku(OTHER));
  }

  @Test
  void aStopOfAShardThatWasResumedInItsFallbackStopsNoOther() {
    List<Long> shards = Shards.ids(ONE, 2);
    stops = List.of(Long.toString(shards.get(0)), STOP);
    rows.put(ONE, ProductInPhase.open(ONE, SalePhase.SHARDED, 9, 2));
    shards.forEach(id -> rows.put(id, ProductInPhase.open(id, SalePhase.MYSQL, 9)));

    sweep();

    assertThat(rows.values()).extracting(Product::state).containsOnly(SaleState.OPEN);
  }

  @Test
  void aStopThatHasEndedInRedisIsForgotten() {
    stops = List.of(Long.toString(ONE), STOP);
    sweep();
    stops = List.of();
    sweep();
    isRedisAway = true;

    sweep();

    assertThat(locked).containsExactly(ONE);
  }

  /** Each waited for a connection, and a stop asked meanwhile was not remembered. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whileMySqlIsAwayARoundAsksItOnce(boolean isRedisAwayToo) {
    stops = List.of(Long.toString(ONE), STOP, Long.toString(OTHER), STOP);
    sweep();
    locked.clear();
    isRedisAway = isRedisAwayToo;
    failure = new CannotCreateTransactionException("for the test");

    assertThatThrownBy(this::sweep).isSameAs(failure);

    assertThat(locked).hasSize(1);
  }

  private void sweep() {
    pending.sweep();
  }

  private PendingStops pendingStops() {
    Products products = new FailingProducts();
    SaleStates states = new SaleStates(redis);
    TransactionOperations transactions = TransactionOperations.withoutTransaction();
    RedisCallGuard guard = new RedisCallGuard(redis, new SimpleMeterRegistry());
    return new PendingStops(
        products,
        states,
        new RememberedStops(states, products, transactions),
        new StateFollower(products, states, Clock.systemUTC(), guard),
        transactions,
        new AuditLog(),
        guard);
  }

  /** To HGETALL and HGET of the stops, HGET of a version, HMGET of a state, and sale_state.lua. */
  private Object reply(List<String> command) {
    if (isRedisAway) {
      throw new JedisConnectionException("for the test");
    }
    if (command.get(0).equals("HGETALL")) {
      return command.contains(STOPS) ? stops : List.of();
    }
    if (command.get(0).equals("HMGET")) {
      return shown;
    }
    if (command.get(0).equals("HGET")) {
      return command.contains("stateVersion") ? "5" : STOP;
    }
    if (command.get(3).equals(RedisKeys.absent(Partition.ofSku(ONE)))) {
      removed.add(command.subList(command.size() - 2, command.size()));
      return "ABSENT";
    }
    followed.add(command.get(3));
    throw follows;
  }

  private static Products.StateToFollow closed(long skuId) {
    return new Products.StateToFollow(skuId, SaleState.CLOSED, 1, 2);
  }

  private final class FailingProducts implements Products {

    @Override
    public Optional<Product> lock(long skuId) {
      locked.add(skuId);
      Product row = rows.get(skuId);
      if (row == null) {
        throw failure;
      }
      return Optional.of(row);
    }

    @Override
    public List<StateToFollow> findFollowed(Instant now) {
      return toFollow;
    }

    @Override
    public Product save(Product created) {
      return created;
    }

    @Override
    public Optional<Product> findBySkuId(long skuId) {
      return Optional.empty();
    }

    @Override
    public List<Product> findBySkuIdInOrderBySkuId(Collection<Long> skuIds) {
      return List.of();
    }
  }
}
