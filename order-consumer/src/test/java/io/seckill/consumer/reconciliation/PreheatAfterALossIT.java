package io.seckill.consumer.reconciliation;

import static io.seckill.testing.Eventually.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.seckill.common.order.OrderMessage;
import io.seckill.common.order.Partition;
import io.seckill.common.order.PurchasePolicy;
import io.seckill.common.redis.RedisKeys;
import io.seckill.consumer.testing.AdmittedSale;
import io.seckill.consumer.testing.InternalApi.Answer;
import io.seckill.consumer.testing.OrderFlood;
import io.seckill.consumer.testing.StoredInvariants;
import io.seckill.consumer.testing.TestConsumer;
import io.seckill.testing.RowLock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A preheat offers no units that orders of the old sale will still take, after any loss of Redis.
 */
class PreheatAfterALossIT extends ReconciliationFixture {

  /** Losses of the whole sale, of its latest orders, and of everything since an earlier epoch. */
  private static final List<Consumer<AdmittedSale>> LOSSES =
      List.of(
          AdmittedSale::forget,
          sale -> {
            sale.setField("seq", "2");
            sale.setStock(98);
          },
          sale -> sale.setField("epoch", "0"));

  /** A sale with ten orders in flight, closed by its operator. */
  private record ClosedSale(AdmittedSale sale, List<OrderMessage> orders) {

    static ClosedSale of(TestConsumer consumer, long sku) {
      AdmittedSale sale = new AdmittedSale(consumer, sku, PurchasePolicy.LIMITED, 5, 100);
      List<OrderMessage> orders = new ArrayList<>();
      for (int user = 1; user <= 10; user++) {
        orders.add(sale.admit(user, 1));
      }
      close(consumer, sku);
      return new ClosedSale(sale, orders);
    }

    OrderMessage last() {
      return orders.get(orders.size() - 1);
    }
  }

  @Test
  void waitsForAnOrderInTheOutboxAndOneThatMySqlCannotStoreYet() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 1);
    close(consumer, sale.sku);
    sale.outbox(order);
    sale.forget();
    refuses(consumer, sale);
    consumer.redis().del(RedisKeys.outbox(Partition.ofSku(sale.sku)));
    try (RowLock held = consumer.lockProduct(sale.sku)) {
      flood.publish(order);
      refuses(consumer, sale);
      held.release();
    }

    preheatsOnceStored(consumer, sale, 1);
  }

  /** The trigger keeps the service from proving the new server. */
  @Test
  void waitsForAnOrderThatAServerWithoutProofLacks() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 1);
    close(consumer, sale.sku);
    sale.outbox(order);
    consumer.asRoot(
        "CREATE TRIGGER refusal BEFORE INSERT ON redis_server FOR EACH ROW"
            + " IF NEW.replication_id <> 'former' THEN SIGNAL SQLSTATE '45000'"
            + " SET MESSAGE_TEXT = 'not proven yet'; END IF");
    try {
      promoteAReplicaWithoutOrders(consumer, sale);
      refuses(consumer, sale);
    } finally {
      consumer.asRoot("DROP TRIGGER refusal");
    }
    consumer.redis().del(RedisKeys.outbox(Partition.ofSku(sale.sku)));
    flood.publish(order);

    preheatsOnceStored(consumer, sale, 1);
    String former = "SELECT COUNT(*) FROM redis_server WHERE replication_id = 'former'";
    eventually().until(() -> ledger.number(former) == 0); // other tests count the barriers
  }

  /** MySQL has stored a later order, or a change of the stock, that Redis lacks by now, too. */
  @ParameterizedTest
  @ValueSource(strings = {"last_seq", "change_seq"})
  void waitsForAnOrderThatRedisHasLostWithALaterOrderOrChange(String column) {
    String proven =
        "SELECT COUNT(*) FROM redis_server WHERE replication_id NOT IN ('another', 'former')";
    eventually().until(() -> ledger.number(proven) == 16);
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 1);
    close(consumer, sale.sku);
    sale.outbox(order);
    sale.setField("seq", "0");
    sale.setStock(100);
    consumer.update("UPDATE products SET " + column + " = 1 WHERE sku_id = ?", sale.sku);
    refuses(consumer, sale);
    consumer.redis().del(RedisKeys.outbox(Partition.ofSku(sale.sku)));
    flood.publish(order);

    preheatsOnceStored(consumer, sale, 1);
  }

  /** No order can ever reach that number, and a closed sale is not rebuilt. */
  @Test
  void waitsForAnOrderOfASaleWhoseNumberInRedisIsWrong() {
    AdmittedSale sale = sale(PurchasePolicy.LIMITED, 5, 100);
    OrderMessage order = sale.admit(1, 1);
    close(consumer, sale.sku);
    sale.outbox(order);
    sale.setField("seq", "90000000000000");
    refuses(consumer, sale);
    consumer.redis().del(RedisKeys.outbox(Partition.ofSku(sale.sku)));
    try (RowLock held = consumer.lockProduct(sale.sku)) {
      flood.publish(order);
      refuses(consumer, sale);
      held.release();
    }

    preheatsOnceStored(consumer, sale, 1);
    assertThat(sale.field("seq")).isEqualTo(Long.toString(ledger.settled(sale.sku)));
    String open = "/internal/v1/skus/" + sale.sku + "/open";
    assertThat(consumer.api().post(open, "{}").status()).isEqualTo(200);
  }

  @Tag("proof")
  @Test
  void waitsForTheOrdersOfASaleThatRedisHasLost() {
    try (TestConsumer noIntake = TestConsumer.start(Map.of("seckill.intake.enabled", "false"));
        OrderFlood flood = new OrderFlood(noIntake.vhost())) {
      List<Consumer<AdmittedSale>> losses = new ArrayList<>(LOSSES);
      losses.add(sale -> promoteAReplicaWithoutOrders(noIntake, sale));
      List<ClosedSale> sales = new ArrayList<>();
      for (Consumer<AdmittedSale> loss : losses) {
        ClosedSale closed = ClosedSale.of(noIntake, 7001 + sales.size());
        sales.add(closed);
        flood.publish(closed.orders().subList(0, 9));
        closed.sale().outbox(closed.last());
        loss.accept(closed.sale());

        refuses(noIntake, closed.sale()); // an order is in the outbox
        noIntake.redis().del(RedisKeys.outbox(Partition.ofSku(closed.sale().sku)));
        refuses(noIntake, closed.sale()); // orders are in the broker
      }
      try (TestConsumer withIntake = noIntake.another(Map.of())) {
        sales.forEach(closed -> flood.publish(closed.last()));
        sales.forEach(closed -> preheatsOnceStored(withIntake, closed.sale(), 10));
      }
    }
  }

  /** It has as much as MySQL, which has stored nothing yet. */
  private static void promoteAReplicaWithoutOrders(TestConsumer consumer, AdmittedSale sale) {
    sale.setField("seq", "0");
    sale.setStock(100);
    consumer.update(
        "REPLACE INTO redis_server VALUES (?, 'former', UTC_TIMESTAMP(3))",
        Partition.ofSku(sale.sku));
  }

  private static void close(TestConsumer consumer, long sku) {
    String state = "/internal/v1/skus/" + sku + "/state";
    assertThat(consumer.api().post(state, "{\"state\":\"CLOSED\"}").status()).isEqualTo(200);
  }

  private static void preheatsOnceStored(TestConsumer consumer, AdmittedSale sale, int orders) {
    new StoredInvariants(consumer.sql()).awaitOrders(sale.sku, orders);
    Answer done =
        eventually().until(() -> preheat(consumer, sale), answer -> answer.status() == 200);

    assertThat(done.number("stock")).isEqualTo(100 - orders);
    assertThat(done.number("epoch")).as("refusals raise no epoch").isEqualTo(2);
    assertThat(done.number("lastSeq"))
        .as("above every sequence number admitted by Redis")
        .isGreaterThanOrEqualTo(100)
        .isEqualTo(done.number("settled"));
  }

  private static void refuses(TestConsumer consumer, AdmittedSale sale) {
    Answer refused = preheat(consumer, sale);
    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.code()).isEqualTo("ORDERS_IN_FLIGHT");
  }

  private static Answer preheat(TestConsumer consumer, AdmittedSale sale) {
    return consumer.api().post("/internal/v1/skus/" + sale.sku + "/preheat", "{}");
  }
}
