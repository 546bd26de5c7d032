package io.seckill.consumer.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.Partition;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.sale.Decider;
import io.seckill.consumer.ledger.BrokerBalanceItems.Messages;
import io.seckill.consumer.ledger.BrokerBalanceItems.UnackedBoard;
import io.seckill.consumer.ledger.DatabaseBalanceItems.DatabaseSaleCounters;
import io.seckill.consumer.ledger.DatabaseBalanceItems.DatabaseSaleCounters.Item;
import io.seckill.consumer.ledger.DatabaseBalanceItems.Progress;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.testing.CannedRedis;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

/** Two units of a sale are published, and either in the broker or lost. */
class LedgersTest {

  private static final long SKU = 1_001;
  private static final long UNITS = 10;

  /** With shards, if any; all units are in them. */
  private static final long PARENT = 2_001;

  private static final Instant NOW = Instant.parse("2026-11-26T10:00:00Z");

  private final Map<Long, List<Long>> strong = new HashMap<>();
  private Instant now = NOW;
  private String state = "OPEN";
  private long epochInRedis = 1;
  private long stockInRedis = UNITS - 2;
  private long deadUnits;
  private List<Object> otherSale = List.of();
  private @Nullable Long inBroker = 2L;
  private long inConsumer;
  private Runnable whileReading = () -> {};
  private List<Long> onSale = List.of(SKU);
  private @Nullable RuntimeException failure;
  private int reads;

  private final Clock clock = ((InstantSource) () -> now).withZone(ZoneOffset.UTC);
  private final CannedRedis redis = new CannedRedis(this::answer);
  private final DatabaseBalanceItems mysql = new MySql();
  private final Ledgers ledgers =
      new Ledgers(
          new LedgerReader(new RedisBalanceItems(redis), new Broker(redis), mysql, redis, clock),
          mysql,
          new LedgerMeters(new SimpleMeterRegistry()),
          clock);

  /** A fallback begins, and the refresh still waits for Redis. */
  @Test
  void aReadingThatTakesLongReplacesNoLaterOne() {
    whileReading =
        () -> {
          strong.put(SKU, List.of());
          later(Duration.ofSeconds(1));
          assertThat(ledgers.of(SKU).decides()).isEqualTo(Decider.MYSQL);
        };

    ledgers.refresh();

    assertThat(ledgers.latest()).extracting(SkuLedger::decides).containsExactly(Decider.MYSQL);
  }

  /** Each queue waited for a connection. One whose query takes too long keeps no other waiting. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aRefreshAsksAMySqlThatDoesNotAnswerOnce(boolean isAway) {
    onSale = List.of(SKU, SKU + 1);
    failure =
        isAway
            ? new CannotGetJdbcConnectionException("for the test")
            : new QueryTimeoutException("for the test");

    Throwable thrown = catchThrowable(ledgers::refresh);

    assertThat(thrown).isSameAs(isAway ? failure : null);
    assertThat(reads).isEqualTo(isAway ? 1 : 2);
  }

  @Test
  void whatWasReadBeforeTheClockWasSetBackIsReplaced() {
    stockInRedis = UNITS;
    assertThat(ledgers.of(SKU).unbalancedSince()).isEqualTo(NOW);
    now = NOW.minusSeconds(3_600);

    ledgers.refresh();

    assertThat(ledgers.latest()).extracting(SkuLedger::readAt).containsExactly(now);
    assertThat(ledgers.latest()).extracting(SkuLedger::unbalancedSince).containsExactly(now);
  }

  @Test
  void aQueueThatLacksOrdersIsUnbalancedUntilItIsCheckedAgain() {
    inBroker = 0L;
    assertThat(ledgers.of(SKU).unbalancedSince()).isEqualTo(NOW);

    inBroker = null;
    for (int times = 0; times < 2; times++) {
      later(Duration.ofSeconds(20));
      assertThat(ledgers.of(SKU).unbalancedSince()).isEqualTo(NOW);
    }
    inBroker = 0L;
    later(Duration.ofSeconds(20));
    assertThat(ledgers.of(SKU).unbalancedSince()).isEqualTo(NOW);

    inBroker = 2L;
    later(Duration.ofSeconds(20));
    assertThat(ledgers.of(SKU).unbalancedSince()).isNull();
  }

  /** One message may have both orders, or one of them. */
  @Test
  void aQueueThatLackedOrdersIsUnbalancedUntilItSurelyHasAll() {
    inBroker = 0L;
    assertThat(ledgers.of(SKU).unbalancedSince()).isEqualTo(NOW);

    for (Long messages : Arrays.asList(1L, null, 1L)) {
      inBroker = messages;
      later(Duration.ofSeconds(20));
      assertThat(ledgers.of(SKU).unbalancedSince()).isEqualTo(NOW);
      assertThat(ledgers.of(SKU).balanced()).isFalse();
    }
    inBroker = 2L;
    later(Duration.ofSeconds(20));
    assertThat(ledgers.of(SKU).unbalancedSince()).isNull();
    assertThat(ledgers.of(SKU).balanced()).isTrue();

    inBroker = 1L;
    later(Duration.ofSeconds(20));
    assertThat(ledgers.of(SKU).unbalancedSince()).isNull();
  }

  /** A second reading would say the same. */
  @Test
  void readsShardsWhoseQueueMayStillLackOrdersOnce() {
    strong.put(PARENT, List.of(SKU));
    inBroker = 0L;
    assertThat(ledgers.of(PARENT).waiting()).contains("the ledger does not balance");
    inBroker = 1L;
    later(Duration.ofSeconds(20));
    reads = 0;

    SkuLedger ledger = ledgers.of(PARENT);

    assertThat(ledger.balanced()).isFalse();
    assertThat(ledger.waiting())
        .containsExactly("its queue may still lack orders", "2 orders on their way to MySQL");
    assertThat(reads).as("of the shard and of the SKU").isEqualTo(2);
  }

  /** Meanwhile Redis has two units too many. */
  @ParameterizedTest
  @CsvSource({"1, 1", "1,", ", 1", ","})
  void aQueueThatLackedOrdersIsUnbalancedAlsoAfterAnotherDifference(
      @Nullable Long meanwhile, @Nullable Long afterwards) {
    inBroker = 0L;
    assertThat(ledgers.of(SKU).unbalancedSince()).isEqualTo(NOW);

    stockInRedis = UNITS;
    inBroker = meanwhile;
    later(Duration.ofSeconds(20));
    assertThat(ledgers.of(SKU).unbalancedSince()).isEqualTo(NOW);

    stockInRedis = UNITS - 2;
    inBroker = afterwards;
    later(Duration.ofSeconds(20));
    assertThat(ledgers.of(SKU).unbalancedSince()).isEqualTo(NOW);
    assertThat(ledgers.of(SKU).balanced()).isFalse();

    inBroker = 2L;
    later(Duration.ofSeconds(20));
    assertThat(ledgers.of(SKU).unbalancedSince()).isNull();
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(longs = 1)
  void anotherDifferenceEndsAlsoWhileTheQueueCannotBeChecked(@Nullable Long messages) {
    stockInRedis = UNITS;
    assertThat(ledgers.of(SKU).unbalancedSince()).isEqualTo(NOW);

    stockInRedis = UNITS - 2;
    inBroker = messages;
    later(Duration.ofSeconds(20));
    assertThat(ledgers.of(SKU).unbalancedSince()).isNull();
  }

  /** Redis lacks two orders of it that MySQL has. */
  @Test
  void aSaleWithoutItsOrdersHidesNoMissingOrderOfAnother() {
    otherSale = List.of("" + (SKU + Partition.COUNT), "10", "1", "0", "0", "0", "0", "0");
    inBroker = 0L;

    SkuLedger ledger = ledgers.of(SKU);

    assertThat(ledger.queue().difference()).isEqualTo(2);
    assertThat(ledger.balanced()).isFalse();
  }

  /** Two orders are published and not decided; a message has 1 to 16. */
  @ParameterizedTest
  @CsvSource({
    "0, 0, 2",
    "0, 1, 1",
    "0, 2, 0",
    "1, 0, 0",
    "1, 1, 0",
    "2, 0, 0",
    "1, 2, -1",
    "3, 0, -1"
  })
  void aQueueLacksTheOrdersThatNoMessageCanHave(long ready, long unacked, long difference) {
    inBroker = ready;
    inConsumer = unacked;

    SkuLedger ledger = ledgers.of(SKU);

    assertThat(ledger.queue().difference()).isEqualTo(difference);
    assertThat(ledger.balanced()).isEqualTo(difference <= 0);
  }

  /** Its loading takes minutes if it has many orders. */
  @ParameterizedTest
  @CsvSource({"PREHEATED, 0, true", "PREHEATED, 3, true", "CLOSED, 0, true", "OPEN, 0, false"})
  void aPreheatUnderWayLacksNoUnits(String inMySql, long dead, boolean balanced) {
    state = inMySql;
    deadUnits = dead;
    epochInRedis = 0;
    stockInRedis = 0;
    inBroker = 0L;

    assertThat(ledgers.of(SKU).balanced()).isEqualTo(balanced);
  }

  private void later(Duration time) {
    now = now.plus(time);
  }

  private Object answer(List<String> command) {
    List<Object> none = List.of("0", 0L, "", 0L, 0L);
    if (!command.contains(RedisKeys.outbox(Partition.ofSku(SKU)))) {
      return none;
    }
    List<Object> sale =
        List.of("" + SKU, "" + stockInRedis, "" + epochInRedis, "2", "2", "2", "2", "2");
    return Stream.of(none, sale, otherSale).flatMap(List::stream).toList();
  }

  private final class Broker extends BrokerBalanceItems {

    Broker(CannedRedis redis) {
      super(null, new UnackedBoard(Map::of, redis));
    }

    @Override
    Optional<Messages> read(String queue) {
      return Optional.ofNullable(inBroker).map(ready -> new Messages(ready, inConsumer));
    }
  }

  private final class MySql extends DatabaseBalanceItems {

    MySql() {
      super(JdbcClient.create(new JdbcTemplate()), null);
    }

    @Override
    Map<Long, List<Long>> strongAmong(Collection<Long> skus) {
      return Map.copyOf(strong);
    }

    @Override
    List<Long> watched(int most) {
      return onSale;
    }

    @Override
    Map<Long, Progress> progress(Collection<Long> skus) {
      return skus.stream()
          .collect(
              Collectors.toMap(Function.identity(), sku -> new Progress(1, sku == SKU ? 0 : 2, 0)));
    }

    @Override
    Map<Long, DatabaseSaleCounters> read(Collection<Long> skus) {
      reads++;
      if (failure != null) {
        throw failure;
      }
      long sku = skus.contains(PARENT) ? PARENT : SKU;
      DatabaseSaleCounters sale =
          new DatabaseSaleCounters(
              sku,
              strong.isEmpty() ? Decider.REDIS : Decider.MYSQL,
              state,
              false,
              1,
              sku == PARENT ? 0 : UNITS,
              UNITS,
              0,
              deadUnits == 0 ? Map.of() : Map.of(Item.DEAD_LETTERS, new OrderTotals(1, deadUnits)),
              List.of());
      Runnable meanwhile = whileReading;
      whileReading = () -> {};
      meanwhile.run();
      return Map.of(sku, sale);
    }
  }
}
