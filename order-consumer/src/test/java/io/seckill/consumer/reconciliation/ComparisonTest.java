package io.seckill.consumer.reconciliation;

import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderStatus;
import io.seckill.consumer.loading.DatabasePart;
import io.seckill.consumer.loading.DatabasePart.PendingUnits;
import io.seckill.consumer.loading.StoredChange;
import io.seckill.consumer.orders.OrderTotals;
import io.seckill.consumer.products.RedisSaleState;
import io.seckill.consumer.testing.UnstoredProduct;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ComparisonTest {

  private static final long SKU = 7;
  private static final long NOW = 1_790_000_000_000L;
  private static final int STOCK = 100;

  /** Orders admitted when the comparison began. */
  private static final int SEQ = Comparison.MOST_FINDINGS + 1;

  /** What may be wrong of one user, whose only order has the same number. */
  private enum Wrong {
    UNKNOWN,
    RESULT,
    RECORD,
    QUOTA,
    COMPENSATION
  }

  private final Map<OrderId, AdmissionRecord> stored = new HashMap<>();
  private final Map<Long, Long> quotas = new HashMap<>();
  private final Map<OrderId, PendingUnits> pending = new HashMap<>();
  private final RedisPart redis =
      new RedisPart(new HashMap<>(), new HashMap<>(), new HashMap<>(), new HashMap<>());

  @ParameterizedTest
  @EnumSource
  void saysWhenThereAreMoreFindingsThanItKeeps(Wrong kind) {
    wrong(kind, 0, Comparison.MOST_FINDINGS);
    Comparison all = compare(STOCK);
    wrong(kind, Comparison.MOST_FINDINGS, 1);
    Comparison more = compare(STOCK);

    assertThat(found(all, kind)).isEqualTo(Comparison.MOST_FINDINGS);
    assertThat(all.isPartial() || !all.hasAllUnknown()).isFalse();
    assertThat(found(more, kind)).isEqualTo(Comparison.MOST_FINDINGS);
    assertThat(more.isPartial()).isEqualTo(kind != Wrong.UNKNOWN);
    assertThat(more.hasAllUnknown()).isEqualTo(kind != Wrong.UNKNOWN);
  }

  /** As after a loss of MySQL alone: paid orders stay, and those behind them are sent again. */
  @Test
  void findsTheOrdersThatCanBeSentAmongAnyNumberThatCannot() {
    wrong(Wrong.UNKNOWN, 0, Comparison.MOST_FINDINGS);
    Comparison comparison = compare(STOCK);
    OrderId lost = new OrderId(SEQ);
    comparison.add(
        database(), new RedisPart(Map.of(), Map.of(lost, sendable(SEQ - 1)), Map.of(), Map.of()));

    assertThat(comparison.unknown()).hasSize(SEQ).containsKey(lost);
    assertThat(comparison.hasAllUnknown()).isTrue();
  }

  /** Its bucket comes last; those admitted after it are on their way. */
  @Test
  void keepsALostOrderAlthoughAnyNumberOfLaterOnesIsOnItsWay() {
    OrderId lost = new OrderId(1);
    for (long user = 1; user <= Comparison.MOST_FINDINGS; user++) {
      redis.records().put(new OrderId(user + 1), sendable(user));
    }
    Comparison comparison = compare(STOCK);
    comparison.add(
        database(), new RedisPart(Map.of(), Map.of(lost, sendable(0)), Map.of(), Map.of()));

    assertThat(comparison.unknown()).hasSize(Comparison.MOST_FINDINGS).containsKey(lost);
    assertThat(comparison.hasAllUnknown()).isFalse();
  }

  @Test
  void leavesOrdersThatAreAdmittedMeanwhileToTheNextComparison() {
    wrong(Wrong.UNKNOWN, SEQ, Comparison.MOST_FINDINGS + 1);
    Comparison comparison = compare(STOCK);

    assertThat(comparison.unknown()).isEmpty();
    assertThat(comparison.hasAllUnknown()).isTrue();
    assertThat(comparison.quotas()).as("their units are taken").isEmpty();
    assertThat(comparison.wrongStock()).isNull();
  }

  @Test
  void judgesQuotasAndStockAlthoughMySqlHasUsersThatAreNotCompared() {
    wrong(Wrong.QUOTA, 0, 3);
    Comparison comparison = comparison(STOCK - 1);
    comparison.leavesOut();
    comparison.add(database(), redis);

    assertThat(comparison.quotas()).hasSize(3);
    assertThat(comparison.wrongStock()).isEqualTo(STOCK);
    assertThat(comparison.isPartial()).isTrue();
  }

  @Test
  void findsTheSameInPartsThatAreForgottenOnceRepaired() {
    wrong(Wrong.COMPENSATION, 0, 5);
    Comparison comparison = compare(STOCK);
    comparison.forget();

    assertThat(comparison.undelivered()).isEmpty();
    assertThat(comparison.wrongStock()).as("its units are counted").isEqualTo(STOCK - 5);
  }

  @Test
  void countsNoUnitsTwiceThatRedisGotBackBeforeMySqlWasRead() {
    OrderId id = new OrderId(1);
    redis.records().put(id, order(8, OrderStatus.CANCELLED));
    stored.put(id, order(8, OrderStatus.CONFIRMED));
    quotas.put(8L, 1L);
    redis.compensated().put(id, new RedisPart.Units(1, 1));

    Comparison comparison = compare(STOCK + 1);

    assertThat(comparison.wrongStock()).isNull();
    assertThat(comparison.quotas()).isEmpty();
  }

  /** One that has ended is in both stores or in neither; else Redis has lost data. */
  @ParameterizedTest
  @CsvSource({
    "-10, PENDING, true, -10",
    "-10, PENDING, false, 0",
    "-10, UNDOING, true, -10",
    "-10, '', true, -10", // of a time after the snapshot
    "5, MYSQL_DONE, false, -5",
    "5, MYSQL_DONE, true, 0",
    "-10, DONE, true, 0",
    "-10, DONE, false, 0",
    "-10, REFUSED, true, 0"
  })
  void countsChangesUnderWayThatOneStoreAloneHas(
      long delta, String inMySql, boolean inRedis, long ahead) {
    StoredChange change =
        new StoredChange(
            delta,
            Set.of("MYSQL_DONE", "DONE").contains(inMySql),
            Set.of("DONE", "REFUSED").contains(inMySql));

    Comparison comparison =
        comparison(
            STOCK + ahead,
            inMySql.isEmpty() ? Map.of() : Map.of("change", change),
            inRedis ? Map.of("change", delta) : Map.of());

    assertThat(comparison.wrongStock()).isNull();
  }

  /** After MySQL's clock was set back some rows are from a time to come. */
  @ParameterizedTest
  @CsvSource({
    "1999, 0, 0", // their processes are at work on them
    "2000, 1, 0",
    "9999, 1, 0",
    "10000, 1, 1",
    "0, 0, 0",
    "-1, 1, 1",
    "-3600000, 1, 1"
  })
  void findsOnlyWhatHasHadItsTime(long ageMs, int results, int compensations) {
    wrong(Wrong.RESULT, 0);
    stored.put(new OrderId(1), order(0, OrderStatus.CONFIRMED, NOW - ageMs));
    wrong(Wrong.COMPENSATION, 1);
    pending.put(new OrderId(2), new PendingUnits(1, 1, 1, NOW - ageMs));

    Comparison comparison = compare(STOCK);

    assertThat(comparison.results()).hasSize(results);
    assertThat(comparison.undelivered()).hasSize(compensations);
  }

  @Test
  void isAtRestWithoutOrdersInFlight() {
    assertThat(compare(STOCK).isAtRest()).isTrue();
    wrong(Wrong.UNKNOWN, 0);
    assertThat(compare(STOCK).isAtRest()).isFalse();
  }

  private static int found(Comparison comparison, Wrong kind) {
    return switch (kind) {
      case UNKNOWN -> comparison.unknown().size();
      case RESULT -> comparison.results().size();
      case RECORD -> comparison.unrecorded().size();
      case QUOTA -> comparison.quotas().size();
      case COMPENSATION -> comparison.undelivered().size();
    };
  }

  private void wrong(Wrong kind, int from, int count) {
    IntStream.range(from, from + count).forEach(user -> wrong(kind, user));
  }

  private void wrong(Wrong kind, long user) {
    OrderId id = new OrderId(user + 1);
    switch (kind) {
      case UNKNOWN -> {
        redis.records().put(id, order(user, OrderStatus.QUEUED));
        redis.quotas().put(user, "1");
      }
      case RESULT -> {
        redis.records().put(id, order(user, OrderStatus.QUEUED));
        stored.put(id, order(user, OrderStatus.CONFIRMED));
      }
      case RECORD -> stored.put(id, order(user, OrderStatus.CONFIRMED));
      case QUOTA -> quotas.put(user, 1L);
      case COMPENSATION -> {
        redis.records().put(id, order(user, OrderStatus.CANCELLED));
        stored.put(id, order(user, OrderStatus.CANCELLED));
        redis.quotas().put(user, "1");
        pending.put(id, new PendingUnits(user, 1, 1, NOW - 60_000));
      }
    }
  }

  private static AdmissionRecord sendable(long user) {
    return order(user, "key", OrderStatus.CONFIRMED, NOW - 60_000);
  }

  private static AdmissionRecord order(long user, OrderStatus status) {
    return order(user, null, status, NOW - 60_000);
  }

  private static AdmissionRecord order(long user, OrderStatus status, long changedAt) {
    return order(user, null, status, changedAt);
  }

  private static AdmissionRecord order(
      long user, @Nullable String requestId, OrderStatus status, long changedAt) {
    return new AdmissionRecord(
        user, requestId, 1, user + 1, NOW - 60_000, 1, status, null, changedAt, null);
  }

  private Comparison compare(long stock) {
    Comparison comparison = comparison(stock);
    comparison.add(database(), redis);
    return comparison;
  }

  private DatabasePart database() {
    return new DatabasePart(stored, Map.of(), quotas, pending);
  }

  /**
   * @param stock in Redis
   */
  private static Comparison comparison(long stock) {
    return comparison(stock, Map.of(), Map.of());
  }

  private static Comparison comparison(
      long stock, Map<String, StoredChange> changesInMySql, Map<String, Long> changesInRedis) {
    return new Comparison(
        UnstoredProduct.of(SKU).stock(STOCK).settled(SEQ).snapshot(),
        new RedisSaleState(
            Map.of("epoch", "1", "seq", Integer.toString(SEQ)), Long.toString(stock)),
        NOW,
        OrderTotals.NONE,
        changesInMySql,
        changesInRedis);
  }
}
