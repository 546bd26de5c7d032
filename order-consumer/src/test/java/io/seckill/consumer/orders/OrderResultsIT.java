package io.seckill.consumer.orders;

import static io.seckill.common.order.OrderStatus.CANCELLED;
import static io.seckill.common.order.OrderStatus.CONFIRMED;
import static io.seckill.common.order.OrderStatus.DELAYED;
import static io.seckill.common.order.OrderStatus.EXPIRED;
import static io.seckill.common.order.OrderStatus.PAID;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.seckill.common.order.AdmissionRecord;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderStatus;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.RejectReason;
import io.seckill.common.redis.RedisClients;
import io.seckill.common.redis.RedisKeys;
import io.seckill.common.redis.RedisSettings;
import io.seckill.consumer.runtime.RedisCallGuard;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.testing.TestServers;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.UnifiedJedis;

@ExtendWith(TestServers.class)
class OrderResultsIT {

  private static final long SKU = 21;
  private static final long NOW = 1_790_000_100_000L;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @AutoClose private final UnifiedJedis redis = TestServers.redis().newDatabase().open();

  private OrderResults results;

  @BeforeEach
  void open() {
    redis.hset(RedisKeys.sku(SKU), Map.of("epoch", "1", "bucketCount", "4", "settled", "10"));
    results = new OrderResults(redis, new RedisCallGuard(redis, meters), meters);
  }

  @Test
  void writesAResultOverTheAdmissionAndKeepsTheRest() {
    OrderMessage order = admitted(7);

    results.write(List.of(result(order, CONFIRMED, NOW)));

    assertThat(record(order))
        .isEqualTo(
            new AdmissionRecord(
                7, null, 1, order.seq(), order.admittedAt(), 1, CONFIRMED, null, NOW, null));
  }

  /** The time to pay runs from a CONFIRMED, by the clock that ends it. */
  @Test
  void datesAResultByMySqlsClockOrElseByRedissAndNeverByItsOwn() {
    OrderMessage stored = admitted(7);
    OrderMessage known = admitted(8);
    OrderMessage ended = admitted(9);

    results.write(
        List.of(result(stored, CONFIRMED), result(known, CONFIRMED, NOW - 60_000)),
        List.of(new SkuProgress(SKU, 1, 25, NOW)));
    results.write(List.of(result(ended, EXPIRED)));

    assertThat(record(stored).changedAt()).isEqualTo(NOW);
    assertThat(record(known).changedAt()).isEqualTo(NOW - 60_000);
    assertThat(record(ended).changedAt()).isCloseTo(System.currentTimeMillis(), within(60_000L));
  }

  @Test
  void neverGoesBack() {
    OrderMessage order = admitted(7);
    results.write(List.of(result(order, DELAYED), result(order, CONFIRMED), result(order, PAID)));

    results.write(
        List.of(
            result(order, CONFIRMED),
            result(order, CANCELLED),
            result(order, EXPIRED),
            result(order, DELAYED)));

    assertThat(record(order).status()).isEqualTo(PAID);
  }

  @Test
  void spellsRefusalsAndAliases() {
    OrderMessage refused = admitted(7);
    OrderMessage alias = admitted(8);
    OrderId stored = refused.orderId();

    results.write(
        List.of(
            OrderResult.rejected(refused.orderId(), SKU, 7, RejectReason.SOLD_OUT),
            OrderResult.alias(alias.orderId(), SKU, 8, stored)));

    assertThat(record(refused).reason()).isEqualTo(RejectReason.SOLD_OUT);
    assertThat(record(alias).storedOrderId()).isEqualTo(stored);
  }

  @Test
  void writesOnlyOverWhatIsThere() {
    OrderMessage unknown = OrderFlood.order(SKU, PurchasePolicy.UNLIMITED, 7, 1);

    results.write(List.of(result(unknown, CONFIRMED)));

    assertThat(redis.keys("*bucket*")).isEmpty();
  }

  @Test
  void writesTheOtherResultsWhenItCannotReadARecord() {
    OrderMessage foreign = admitted(4);
    OrderMessage unreadable = admitted(5);
    OrderMessage order = admitted(6);
    redis.del(key(foreign));
    redis.set(key(foreign), "no hash");
    redis.hset(key(unreadable), unreadable.orderId().toString(), "5|1|1|1|1|Z|1");

    assertThat(
            results.write(
                Stream.of(foreign, unreadable, order).map(o -> result(o, CONFIRMED)).toList()))
        .isTrue();

    assertThat(record(order).status()).isEqualTo(CONFIRMED);
  }

  /** Else its compensations would never be delivered. */
  @ParameterizedTest
  @ValueSource(strings = {"none", "string", "hash"})
  void needsNoSaleThatCanBeRead(String type) {
    redis.del(RedisKeys.sku(SKU));
    if (type.equals("string")) {
      redis.set(RedisKeys.sku(SKU), "foreign");
    } else if (type.equals("hash")) {
      redis.hset(RedisKeys.sku(SKU), "epoch", "1");
    }

    assertThat(results.write(List.of(result(admitted(7), CONFIRMED)))).isTrue();
  }

  @Test
  void movesProgressUpAndWithinItsEpochOnly() {
    progress(1, 25);
    assertThat(settled()).isEqualTo("25");

    progress(1, 20);
    progress(1, 9);
    progress(2, 900);
    progress(0, 900);

    assertThat(settled()).isEqualTo("25");
  }

  @Test
  void writesMoreOrdersThanOneCallCarries() {
    List<OrderMessage> orders = new ArrayList<>();
    for (int user = 1; user <= 600; user++) {
      orders.add(admitted(user));
    }

    results.write(orders.stream().map(order -> result(order, CONFIRMED)).toList());

    assertThat(orders).allMatch(order -> record(order).status() == CONFIRMED);
  }

  @Test
  void findsTheBucketOfAUserBeyondWhatADoubleHolds() {
    OrderMessage order = admitted(Long.MAX_VALUE - 2);

    results.write(List.of(result(order, CONFIRMED)));

    assertThat(record(order).status()).isEqualTo(CONFIRMED);
  }

  @Test
  void survivesALostScriptCache() { // fault 3
    OrderMessage order = admitted(7);
    results.write(List.of());
    redis.scriptFlush();

    results.write(List.of(result(order, CONFIRMED)));

    assertThat(record(order).status()).isEqualTo(CONFIRMED);
  }

  @Test
  void failsNobodyWhenRedisIsAway() {
    UnifiedJedis nowhere = RedisClients.open(RedisSettings.single("redis://127.0.0.1:1"), "test");
    OrderResults lost = new OrderResults(nowhere, new RedisCallGuard(nowhere, meters), meters);

    lost.write(List.of(result(admitted(7), CONFIRMED)));

    assertThat(meters.get("seckill.consumer.sync.errors").counter().count()).isEqualTo(1);
    nowhere.close();
  }

  private void progress(long epoch, long settled) {
    results.write(List.of(), List.of(new SkuProgress(SKU, epoch, settled, NOW)));
  }

  private String settled() {
    return redis.hget(RedisKeys.sku(SKU), "settled");
  }

  private OrderMessage admitted(long user) {
    OrderMessage order = OrderFlood.order(SKU, PurchasePolicy.UNLIMITED, user, 1);
    redis.hset(key(order), order.orderId().toString(), AdmissionRecord.queued(order).format());
    return order;
  }

  private AdmissionRecord record(OrderMessage order) {
    return AdmissionRecord.parse(redis.hget(key(order), order.orderId().toString()));
  }

  private static String key(OrderMessage order) {
    return RedisKeys.bucket(SKU, RedisKeys.bucketOf(order.userId(), 4));
  }

  private static OrderResult result(OrderMessage order, OrderStatus status) {
    return OrderResult.of(order.orderId(), SKU, order.userId(), status);
  }

  private static OrderResult result(OrderMessage order, OrderStatus status, long changedAt) {
    return new OrderResult(order.orderId(), SKU, order.userId(), status, null, null, changedAt);
  }
}
