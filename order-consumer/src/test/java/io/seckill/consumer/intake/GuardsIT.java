package io.seckill.consumer.intake;

import static io.seckill.common.order.PurchasePolicy.LIMITED;
import static io.seckill.common.order.PurchasePolicy.ONE_PER_USER;
import static io.seckill.common.order.PurchasePolicy.UNLIMITED;
import static io.seckill.testing.Eventually.eventually;
import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.IntStream.range;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.broker.BrokerTopology;
import io.seckill.common.order.OrderId;
import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.OrderMessageCodec;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.order.RecordedMessages;
import io.seckill.consumer.testing.AdmissionFixture;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.Sales;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.TestServers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * MySQL's guards, which must hold even when Redis is wrong: tests publish orders directly to the
 * exchange.
 */
@ExtendWith(TestServers.class)
class GuardsIT {

  private static final AtomicLong NEXT_SKU = new AtomicLong(2000);

  // Not the one of all: the invariants are checked for every SKU of its database.
  private static final TestConsumer consumer = TestConsumer.shared(DeadLetterIT.SETTINGS);
  @AutoClose private static final OrderFlood flood = new OrderFlood(consumer.vhost());
  private static final StoredInvariants database = new StoredInvariants(consumer.sql());
  private static final AdmissionFixture redis = new AdmissionFixture(consumer.redis());

  private final long sku = NEXT_SKU.incrementAndGet();

  @AfterEach
  void theLedgerIsSound() {
    awaitQuiet();
    database.check();
  }

  @Test
  void sellsTenUnitsOfAThousandOrders() {
    sale(LIMITED, 5, 10);
    List<OrderMessage> orders = orders(1_000, LIMITED);
    redis.admit(orders);

    flood.publish(orders);

    database.awaitOrders(sku, 1_000);
    assertThat(database.stock(sku)).isZero();
    assertThat(confirmed()).isEqualTo(10);
    assertThat(rejected("SOLD_OUT")).isEqualTo(990);
    assertThat(database.settled(sku)).isEqualTo(1_000);
    awaitQuiet(); // the broker's counters may be older than the orders
    eventually()
        .untilAsserted(
            () ->
                assertThat(
                        orders.stream()
                            .map(redis::result)
                            .collect(groupingBy(letters -> letters, counting())))
                    .as("all those confirmed, and those rejected last")
                    .isEqualTo(Map.of("C", 10L, "RS", 128L, "", 862L)));
    assertThat(redis.stock(sku)).as("left to reconciliation").isEqualTo(10 - 1_000);
    eventually()
        .untilAsserted(
            () ->
                assertThat(orders.stream().filter(o -> redis.quota(sku, o.userId()) > 0).count())
                    .as("users whose quota is not returned")
                    .isEqualTo(10));
  }

  @Test
  void servesTheFirstWhoCameWhenThereIsTooLittle() {
    sale(UNLIMITED, 0, 3);
    List<OrderMessage> orders =
        range(0, 200).mapToObj(i -> OrderFlood.order(sku, UNLIMITED, 200 - i, 1)).toList();
    List<OrderMessage> first = List.copyOf(orders.subList(0, 3));

    flood.publish(orders);

    database.awaitOrders(sku, 200);
    first.forEach(order -> assertThat(database.status(order)).isEqualTo("CONFIRMED"));
  }

  @Test
  void sellsOneUserFiveUnitsOfAHundredOrders() {
    sale(LIMITED, 5, 1_000);
    List<OrderMessage> orders =
        range(0, 100).mapToObj(i -> OrderFlood.order(sku, LIMITED, 77, 1)).toList();
    redis.admit(orders);

    flood.publish(orders);

    database.awaitOrders(sku, 100);
    assertThat(confirmed()).isEqualTo(5);
    assertThat(rejected("QUOTA_EXCEEDED")).isEqualTo(95);
    assertThat(database.stock(sku)).isEqualTo(995);
    eventually().untilAsserted(() -> assertThat(redis.stock(sku)).as("compensated").isEqualTo(995));
    assertThat(redis.quota(sku, 77)).as("left to reconciliation").isEqualTo(100);
    assertThat(orders.stream().filter(o -> redis.result(o).equals("RQ")).count()).isEqualTo(95);
  }

  @Test
  void refusesAFirstPurchaseAboveTheLimit() { // facts.md 29
    sale(LIMITED, 2, 100);
    OrderMessage order = OrderFlood.order(sku, LIMITED, 5, 5);

    flood.publish(order);

    database.awaitOrders(sku, 1);
    assertThat(database.status(order)).isEqualTo("REJECTED QUOTA_EXCEEDED");
    assertThat(database.stock(sku)).isEqualTo(100);
  }

  @Test
  void letsAUserBuyASkuOfOnePerUserOnce() {
    sale(ONE_PER_USER, 1, 100);
    List<OrderMessage> orders = new ArrayList<>();
    for (int user = 1; user <= 20; user++) {
      for (int i = 0; i < 3; i++) {
        orders.add(OrderFlood.order(sku, ONE_PER_USER, user, 1));
      }
    }
    orders.add(OrderFlood.order(sku, ONE_PER_USER, 21, 2));

    flood.publish(orders);

    database.awaitOrders(sku, 61);
    assertThat(confirmed()).isEqualTo(20);
    assertThat(rejected("QUOTA_EXCEEDED")).isEqualTo(41);
    assertThat(
            database.number("SELECT COUNT(DISTINCT single_buyer) FROM orders WHERE sku_id=" + sku))
        .isEqualTo(20);
  }

  @Test
  void keepsOtherContentUnderAKnownIdOutAndForOperators() {
    sale(LIMITED, 5, 100);
    OrderMessage order = OrderFlood.order(sku, LIMITED, 9, 2);
    flood.publish(order);
    database.awaitOrders(sku, 1);
    OrderMessage forged =
        new OrderMessage(
            order.orderId(),
            order.userId(),
            sku,
            3,
            order.requestId(),
            LIMITED,
            order.epoch(),
            order.seq(),
            order.admittedAt(),
            null);
    long before = deadLetters("OTHER_CONTENT");

    flood.publish(forged);

    awaitDeadLetters("OTHER_CONTENT", before + 1);
    assertThat(database.stock(sku)).isEqualTo(98);
    assertThat(database.number("SELECT quantity FROM orders WHERE sku_id = " + sku)).isEqualTo(2);
    flood.publish(order, forged, order);
    awaitQuiet();
    awaitDeadLetters("OTHER_CONTENT", before + 1);
  }

  @Test
  void answersARequestUnderASecondIdWithTheStoredOrder() {
    sale(LIMITED, 5, 100);
    OrderMessage first = OrderFlood.order(sku, LIMITED, 9, 2);
    OrderMessage second = again(first);
    redis.admit(first, second);
    flood.publish(first);
    database.awaitOrders(sku, 1);

    flood.publish(second);

    database.await(
        "SELECT stored_order_id FROM order_alias WHERE order_id = " + second.orderId(),
        first.orderId().value());
    eventually()
        .untilAsserted(
            () -> {
              assertThat(redis.record(second).storedOrderId()).isEqualTo(first.orderId());
              assertThat(redis.result(first)).isEqualTo("C");
              assertThat(redis.compensated(second)).isEqualTo("2:2");
            });
    assertThat(redis.stock(sku)).isEqualTo(98);
    assertThat(redis.quota(sku, 9)).isEqualTo(2);
    assertThat(database.settled(sku)).isEqualTo(2);
    flood.publish(second, second, first);
    awaitQuiet();
    assertThat(redis.stock(sku)).as("compensated once").isEqualTo(98);
    assertThat(database.settled(sku)).isEqualTo(2);
  }

  @Test
  void keepsUnreadableMessagesForOperatorsAndTheirNeighboursInTheLedger() {
    sale(LIMITED, 5, 100);
    List<String> bad =
        List.of(
            "no json " + sku,
            "{\"v\":1,\"sku\":" + sku + "}",
            json(OrderFlood.order(sku, LIMITED, 1, 1), 0),
            json(OrderFlood.order(sku, LIMITED, 1, 1), -1),
            json(OrderFlood.order(sku, LIMITED, 1, 1), 2_147_483_648L));
    List<OrderMessage> good = orders(20, LIMITED);
    long before = deadLetters("UNREADABLE");

    for (int i = 0; i < bad.size(); i++) {
      flood.publish(good.subList(i * 4, i * 4 + 4));
      flood.publishRaw(sku, bad.get(i), java.util.Map.of());
    }

    database.awaitOrders(sku, 20);
    awaitDeadLetters("UNREADABLE", before + bad.size());
    assertThat(confirmed()).isEqualTo(20);
  }

  /** {@code last_seq} never falls, and {@code admit.lua} takes 14 digits. */
  @Test
  void takesNoSequenceNumberFromAMessageThatRedisCannotHaveWritten() {
    sale(LIMITED, 5, 100);
    OrderMessage order = OrderFlood.order(sku, LIMITED, 1, 1);
    String seq = "\"seq\":" + order.seq();
    long before = deadLetters("UNREADABLE");

    flood.publishRaw(
        sku,
        OrderMessageCodec.encode(order).replace(seq, "\"seq\":100000000000000"),
        java.util.Map.of());

    awaitDeadLetters("UNREADABLE", before + 1);
    assertThat(lastSeq()).isZero();
  }

  /** Redis continues from {@code last_seq}: one wrong number leaves enough of those below 10^14. */
  @Test
  void aMessageRaisesTheSequenceByNoMoreThanRedisCanHoldOrders() {
    sale(LIMITED, 5, 100);
    OrderMessage order = OrderFlood.order(sku, LIMITED, 1, 1);
    String seq = "\"seq\":" + order.seq();

    flood.publishRaw(
        sku,
        OrderMessageCodec.encode(order).replace(seq, "\"seq\":" + OrderMessage.MAX_COUNT),
        java.util.Map.of());

    database.awaitOrders(sku, 1);
    assertThat(lastSeq()).isEqualTo(1_000_000_000);
  }

  private long lastSeq() {
    return database.number("SELECT last_seq FROM products WHERE sku_id = " + sku);
  }

  @Test
  void keepsMessagesOfAnotherVersionForTheirVersion() {
    sale(LIMITED, 5, 100);
    long before = deadLetters("UNSUPPORTED_VERSION");

    flood.publishRaw(sku, "{\"v\":2,\"sku\":" + sku + "}", java.util.Map.of());
    flood.publish(OrderFlood.order(sku, LIMITED, 1, 1));

    awaitDeadLetters("UNSUPPORTED_VERSION", before + 1);
    database.awaitOrders(sku, 1);
    assertThat(
            database.number(
                "SELECT COUNT(*) FROM dead_letter WHERE reason = 'UNSUPPORTED_VERSION'"
                    + " AND detail = 'version 2, this service reads version 1'"))
        .isEqualTo(before + 1);
  }

  @Test
  void storesTheMessagesOfFormerAndLaterReleases() {
    new Sales(consumer).open(1001, "LIMITED", 5, 100);
    byte[] former = RecordedMessages.read("order-v1.json");
    OrderMessage later = OrderFlood.order(sku, LIMITED, 7, 2);
    sale(LIMITED, 5, 100);

    flood.publishRaw(1001, former, java.util.Map.of());
    flood.publishRaw(
        sku,
        OrderMessageCodec.encode(later).replace("}", ",\"giftWrap\":{\"v\":2}}"),
        java.util.Map.of());

    database.awaitOrders(1001, 1);
    database.awaitOrders(sku, 1);
    assertThat(database.number("SELECT quantity FROM orders WHERE order_id = 4194306362375"))
        .isEqualTo(2);
    assertThat(database.status(later)).isEqualTo("CONFIRMED");
  }

  @Test
  void keepsOrdersOfUnknownSkusAndOtherPoliciesForOperators() {
    sale(LIMITED, 5, 100);
    long nowhere = sku + 500_000;
    OrderMessage unknown = OrderFlood.order(nowhere, LIMITED, 1, 1);
    OrderMessage other = OrderFlood.order(sku, UNLIMITED, 1, 50);
    long ofPolicy = deadLetters("OTHER_POLICY");

    flood.publish(unknown, other, OrderFlood.order(sku, LIMITED, 2, 1));

    awaitDeadLetters("UNKNOWN_SKU", 1);
    awaitDeadLetters("OTHER_POLICY", ofPolicy + 1);
    database.awaitOrders(sku, 1);
    assertThat(database.stock(sku)).isEqualTo(99);
  }

  @Test
  void decidesAnyMixtureOfOddOrders() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    System.getLogger("test").log(System.Logger.Level.INFO, "seed " + seed);
    sale(LIMITED, 3, 300);
    List<OrderMessage> orders = new ArrayList<>();
    for (int i = 0; i < 1_500; i++) {
      OrderMessage order =
          OrderFlood.order(sku, LIMITED, 1 + random.nextInt(300), 1 + random.nextInt(4));
      orders.add(order);
      if (random.nextInt(5) == 0) {
        orders.add(order);
      }
      if (random.nextInt(10) == 0) {
        orders.add(again(order));
      }
    }
    Collections.shuffle(orders, random);

    flood.publish(orders);

    long ids = orders.stream().map(OrderMessage::orderId).distinct().count();
    database.await("SELECT settled FROM products WHERE sku_id = " + sku, ids);
    awaitQuiet(); // the broker's counters alone may be older than the orders
    assertThat(
            database.number("SELECT COUNT(*) FROM orders WHERE sku_id = " + sku)
                + database.number(
                    "SELECT COUNT(*) FROM order_alias a JOIN orders o"
                        + " ON o.order_id = a.stored_order_id WHERE o.sku_id = "
                        + sku))
        .as("seed %d", seed)
        .isEqualTo(ids);
    assertThat(database.settled(sku)).as("seed %d", seed).isEqualTo(ids);
    assertThat(database.number("SELECT COUNT(*) FROM dead_letter WHERE sku_id = " + sku)).isZero();
  }

  private void sale(PurchasePolicy policy, int limit, long stock) {
    new Sales(consumer).open(sku, policy.name(), limit, stock);
  }

  private List<OrderMessage> orders(int count, PurchasePolicy policy) {
    return range(0, count).mapToObj(i -> OrderFlood.order(sku, policy, 1 + i, 1)).toList();
  }

  /** The same request under another order id, as after a data loss in Redis. */
  private static OrderMessage again(OrderMessage first) {
    OrderMessage fresh =
        OrderFlood.order(first.skuId(), first.policy(), first.userId(), first.quantity());
    OrderId id = fresh.orderId();
    assertThat(id.partition()).isEqualTo(Partition.ofSku(first.skuId()));
    return AdmittedSale.copy(fresh, first.requestId(), first.policy());
  }

  private static String json(OrderMessage order, long quantity) {
    return io.seckill.common.order.OrderMessageCodec.encode(order)
        .replace("\"quantity\":1", "\"quantity\":" + quantity);
  }

  private long confirmed() {
    return database.number(
        "SELECT COUNT(*) FROM orders WHERE status = 'CONFIRMED' AND sku_id = " + sku);
  }

  private long rejected(String reason) {
    return database.number(
        "SELECT COUNT(*) FROM orders WHERE status = 'REJECTED' AND sku_id = "
            + sku
            + " AND reason = '"
            + reason
            + "'");
  }

  private long deadLetters(String reason) {
    return database.number("SELECT COUNT(*) FROM dead_letter WHERE reason = '" + reason + "'");
  }

  private void awaitDeadLetters(String reason, long count) {
    database.await("SELECT COUNT(*) FROM dead_letter WHERE reason = '" + reason + "'", count);
  }

  /** Waits until every message of this SKU's queue is settled. */
  private void awaitQuiet() {
    String queue = BrokerTopology.orderQueue(Partition.ofSku(sku) % BrokerTopology.ORDER_QUEUES);
    consumer.vhost().awaitEmpty(queue);
  }
}
